#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""veth_ring.py BYTES: in a network namespace of its own, holds about so many bytes of packets that a network card has
received into its page pools: those of a veth with an XDP program, unread in a socket. Prints READY before it sends them,
waits for a line, prints SENT, and ends with its input."""

import ctypes
import os
import socket
import struct
import subprocess
import sys

CLONE_NEWNET = 0x40000000
PROG_LOAD, LINK_CREATE = 5, 28
PROG_TYPE_XDP, ATTACH_XDP = 6, 37
SO_RCVBUFFORCE = 33
DATA = 1400
SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long


def bpf(command, attributes):
    area = ctypes.create_string_buffer(attributes, 128)
    fd = LIBC.syscall(SYS_BPF, command, area, 128)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "bpf(%d)" % command)
    return fd


def pass_all(interface):
    """An XDP program that returns XDP_PASS. The link must stay open."""
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xB7, 0, 0, 2) + struct.pack("<BBhi", 0x95, 0, 0, 0))
    license_ = ctypes.create_string_buffer(b"GPL")
    program = bpf(PROG_LOAD, struct.pack("<IIQQ", PROG_TYPE_XDP, 2, ctypes.addressof(code), ctypes.addressof(license_)))
    return bpf(LINK_CREATE, struct.pack("<IIII", program, socket.if_nametoindex(interface), ATTACH_XDP, 0))


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(mac):
    """A frame for 10.99.0.2:7777 from an address that is not ours; UDP without a checksum."""
    udp = struct.pack("!HHHH", 9, 7777, 8 + DATA, 0) + bytes(DATA)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, socket.inet_aton("10.99.0.9"),
                       socket.inet_aton("10.99.0.2"))
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return mac + bytes(6) + b"\x08\x00" + head + udp


def main():
    count = int(sys.argv[1]) // 2048  # each takes half a page of the pool
    if LIBC.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    for command in ("link add ring0 type veth peer name ring1", "addr add 10.99.0.2/24 dev ring1", "link set ring0 up",
                    "link set ring1 up"):
        subprocess.run(["ip", *command.split()], check=True)
    link = pass_all("ring1")
    out = subprocess.run(["ip", "-o", "link", "show", "ring1"], check=True, capture_output=True, text=True).stdout
    mac = bytes.fromhex(out.split("link/ether ")[1].split()[0].replace(":", ""))
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
    receiver.bind(("10.99.0.2", 7777))
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind(("ring0", 0))
    print("READY", flush=True)
    sys.stdin.readline()
    frame = packet(mac)
    for _ in range(count):
        sender.send(frame)
    print("SENT", flush=True)
    sys.stdin.read()
    os.close(link)


if __name__ == "__main__":
    main()
