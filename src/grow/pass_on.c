// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of functions that only pass memory on. */
#include "grow/pass_on.h"

#include "base/array.h"
#include "model/function_name.h"

#define PATHS_MOST 8 /* paths of Rust that begin with another one */

/* Whole names. */
static const char whole[] =
	"malloc,calloc,realloc,reallocarray,free,memalign,posix_memalign,aligned_alloc,valloc,"
	"pvalloc,strdup,strndup,cfree,"
	"alloc_slot,alloc_group,enframe," /* of musl */
	"xmalloc,xcalloc,xrealloc,xstrdup,xmemdup,zmalloc,zcalloc,zrealloc,"
	"allocate_stack,ggc_internal_alloc,ggc_internal_cleared_alloc";

/* How names begin. */
static const char begins[] =
	/* The C library, and allocators in its place. */
	"__libc_,_int_malloc,_int_realloc,_int_memalign,sysmalloc,tcache_,malloc_,__malloc,"
	"mmap,__mmap,mremap,sbrk,__sbrk,brk,__brk,je_,mi_,tc_,"
	"memset,memcpy,memmove,__memset,__memcpy,__memmove,"
	/* GLib, and the allocators of CPython. */
	"g_malloc,g_realloc,g_slice_alloc,"
	"PyMem_,_PyMem_,PyObject_M,_PyObject_M,PyObject_R,_PyObject_R,_PyObject_GC_,"
	"pymalloc_,allocate_from_new_pool,new_arena,PyType_GenericAlloc,_PyType_AllocNoTrack,"
	/* C++, and Rust's std. */
	"operator new,std::,__gnu_cxx::,boost::container::,boost::unordered,"
	"absl::container_internal::,folly::F14,folly::f14::,folly::fbvector,"
	"folly::basic_fbstring,"
	/* Rust. */
	"__rust_,__rdl_,__rg_,__rustc::__r,alloc::,core::,hashbrown::,smallvec::,indexmap::,"
	/* Go. */
	"runtime.,strings.,bytes.,slices.,maps.,"
	/* V8: spaces, allocators and collectors, and what makes its objects. */
	"v8::base::,heap::base::,v8::ArrayBuffer::Allocator::,v8::ArrayBuffer::NewBackingStore,"
	"v8::internal::BackingStore,v8::internal::BodyDescriptor,v8::internal::Page::,"
	"v8::internal::FreeList,v8::internal::(anonymous namespace)::ElementsAccessorBase,"
	"v8::platform::DefaultJobState::Join,v8::platform::DefaultJobHandle::Join,"
	"v8::platform::DefaultJobWorker::Run,"
	"node::Buffer::,v8::internal::Heap,v8::internal::Factory,"
	"v8::internal::LocalFactory,v8::internal::LocalHeap,v8::internal::Allocat,"
	"v8::internal::MainAllocator,v8::internal::ConcurrentAllocator,"
	"v8::internal::EvacuationAllocator,v8::internal::MemoryAllocator,"
	"v8::internal::MemoryChunk,v8::internal::BasicMemoryChunk,v8::internal::NewSpace,"
	"v8::internal::OldSpace,v8::internal::OldLargeObjectSpace,"
	"v8::internal::NewLargeObjectSpace,v8::internal::LargeObjectSpace,"
	"v8::internal::CodeLargeObjectSpace,v8::internal::PagedSpace,"
	"v8::internal::PagedNewSpace,v8::internal::SemiSpace,v8::internal::CompactionSpace,"
	"v8::internal::Scaveng,v8::internal::MarkCompact,v8::internal::Evacuat,"
	"v8::internal::Sweeper,v8::internal::Zone,v8::internal::AccountingAllocator,"
	"v8::internal::VirtualMemory,v8::internal::BoundedPageAllocator,"
	"Builtins_,node::Malloc,node::Realloc,node::Calloc,node::UncheckedMalloc,node::UncheckedRealloc,"
	"node::UncheckedCalloc,node::NodeArrayBufferAllocator::";

/* Parts of a function of C that is called "runtime", which GCC and clang made. */
static const char parts_of_c[] =
	"runtime.part.,runtime.cold,runtime.isra.,runtime.constprop.,runtime.lto_priv.,"
	"runtime.llvm.";

/* Types and parameters of Rust that a crate cannot add functions to. */
static const char no_crate[] = "u8,u16,u32,u64,u128,usize,i8,i16,i32,i64,i128,isize,f32,f64,bool,"
			       "char,str,(),T,U,I,F,K,V,A,S";

/* Builtins of V8 work for a function of JavaScript, but these are such functions themselves. */
static const char of_script[] =
	"Builtins_Interpreter,Builtins_Baseline,Builtins_JSEntry,Builtins_JSRun,"
	"Builtins_ArgumentsAdaptor,Builtins_CompileLazy";

static bool is_listed(struct text_part name)
{
	if (part_begins_any(name, parts_of_c) || part_begins_any(name, of_script))
		return false;
	return part_lists(part_of(whole), ',', name) || part_begins_any(name, begins);
}

/* Its versions are namespaces of their own: "absl::lts_20220623::container_internal::…". */
static bool is_absl_container(struct text_part name)
{
	if (!part_cut_prefix(&name, "absl::") || !part_begins(name, "lts_"))
		return false;
	part_split(&name, ':');
	return part_begins(name, ":container_internal::");
}

/* "v8::internal::Isolate::AllocateRaw": an allocation by the last part of its name. */
static bool is_v8_allocation(struct text_part name)
{
	size_t end = 0, last = 0;

	if (!part_begins(name, "v8::internal::"))
		return false;
	for (end = 0; end < name.len && name.s[end] != '<'; end++) {
		if (name.s[end] == ':')
			last = end + 1;
	}
	return part_begins_any(part_behind(name, last), "Allocate,Runtime_Allocate");
}

/* References, slices and the like around a type of Rust. */
static struct text_part bare_type(struct text_part type)
{
	static const char *const before[] = {"&", "*", "[", "(", "mut ", "const ", "dyn ", "impl "};

	for (size_t i = 0; i < ARRAY_SIZE(before);)
		i = part_cut_prefix(&type, before[i]) ? 0 : i + 1;
	return type;
}

/*
 * "<alloc::vec::Vec<T> as core::clone::Clone>::clone" and "<u8 as alloc::slice::hack::ConvertVec>::
 * to_vec": the type decides, and the trait where the type is no crate's. "<impl Trait for Type>"
 * likewise.
 */
static bool is_rust_path(struct text_part name, unsigned depth)
{
	size_t end = function_name_close(name, 0), as;
	struct text_part inner = {name.s + 1, end ? end - 1 : 0}, type, trait = {};

	for (as = 0; as < inner.len; as++) {
		if (inner.s[as] == '<')
			as = function_name_close(inner, as);
		else if (part_begins(part_behind(inner, as), " as ") ||
			 part_begins(part_behind(inner, as), " for "))
			break;
	}
	if (as >= inner.len) {
		type = bare_type(inner);
	} else if (part_begins(part_behind(inner, as), " as ")) {
		type = bare_type((struct text_part){inner.s, as});
		trait = part_behind(inner, as + 4);
	} else {
		trait = bare_type((struct text_part){inner.s, as});
		type = bare_type(part_behind(inner, as + 5));
	}
	if (type.len && type.s[0] == '<')
		return depth < PATHS_MOST && is_rust_path(type, depth + 1);
	if (is_listed(type))
		return true;
	while (type.len && strchr("]);, ", type.s[type.len - 1]))
		type.len--;
	return trait.len && part_begins_any(trait, "alloc::,core::,std::,hashbrown::") &&
	       part_lists(part_of(no_crate), ',', type);
}

bool passes_on(const char *name)
{
	struct text_part part = function_name_part(name);

	/* A symbol without a size: the nearest one before the address. */
	part_cut_suffix(&part, "~");
	if (part.len && part.s[0] == '<')
		return is_rust_path(part, 1);
	return is_listed(part) || is_absl_container(part) || is_v8_allocation(part);
}
