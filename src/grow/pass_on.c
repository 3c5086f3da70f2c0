// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of functions that only pass memory on. */
#include "grow/pass_on.h"

#include "base/array.h"
#include "model/function_name.h"

#define PATHS_MOST 8 /* paths of Rust that begin with another one */

static const struct family {
	const char *module; /* how the name of its file begins; NULL: any file */
	const char *whole;  /* names */
	const char *begins; /* how names begin */
} families[] = {
	{
		/*
		 * The C library, its own names and those of POSIX; also with __ or __GI_ before
		 * them.
		 */
		.whole = "malloc,calloc,realloc,reallocarray,free,cfree,memalign,posix_memalign,"
			 "aligned_alloc,valloc,pvalloc,malloc_usable_size,malloc_trim,mmap,mmap64,"
			 "munmap,mremap,madvise,posix_madvise,mprotect,brk,sbrk,mlock,mlock2,"
			 "mlockall,shmat,strdup,strndup,wcsdup,asprintf,vasprintf,obstack_printf,"
			 "obstack_vprintf,getdelim,getline,getwline,open_memstream,"
			 "open_wmemstream,fmemopen,fopencookie,fopen,fopen64,fdopen,freopen,"
			 "freopen64,fclose,fflush,popen,tmpfile,fread,fwrite,fread_unlocked,"
			 "fwrite_unlocked,fgets,fgetc,getc,getchar,fputs,fputc,putc,putchar,puts,"
			 "ungetc,setvbuf,fseek,rewind,printf,fprintf,dprintf,sprintf,snprintf,"
			 "vprintf,vfprintf,vdprintf,vsprintf,vsnprintf,printf_core,scanf,fscanf,"
			 "sscanf,vscanf,vfscanf,vsscanf,perror,ms_write,wms_write,sn_write,memcpy,"
			 "memmove,memset,mempcpy,memccpy,memchr,memcmp,memmem,explicit_bzero,"
			 "bzero,bcopy,strcpy,strncpy,strcat,strncat,stpcpy,stpncpy,strlcpy,"
			 "strlcat,strlen,strnlen,strcmp,strncmp,strcasecmp,strchr,strrchr,strstr,"
			 "strspn,strcspn,strpbrk,strtok,strtok_r,strsep,strxfrm,strcoll,wmemset,"
			 "wmemcpy,wmemmove,wcscpy,wcsncpy,wcscat,wcslen,mbstowcs,wcstombs,"
			 "mbsrtowcs,wcsrtombs,opendir,fdopendir,readdir,readdir64,readdir_r,"
			 "scandir,scandir64,alloc_dir,getdents,getdents64,glob,glob64,ftw,ftw64,"
			 "nftw,nftw64,wordexp,getcwd,get_current_dir_name,realpath,"
			 "canonicalize_file_name,setenv,putenv,unsetenv,clearenv,add_to_environ,"
			 "env_rm_add,tsearch,hcreate,hcreate_r,hsearch,hsearch_r,qsort,qsort_r,"
			 "msort_with_tmp,regcomp,regexec,re_compile_pattern,re_search,re_match,"
			 "getaddrinfo,gethostbyname,gethostbyname_r,gethostbyaddr,getifaddrs,"
			 "getpwnam,getpwnam_r,getpwuid,getpwuid_r,getgrnam,getgrnam_r,getgrgid,"
			 "getgrgid_r,getgrouplist,initgroups,getservbyname,setlocale,newlocale,"
			 "duplocale,bindtextdomain,iconv_open,iconv,dlopen,dlsym,read,pread,"
			 "pread64,readv,preadv,preadv2,recv,recvfrom,recvmsg,recvmmsg,"
			 "process_vm_readv,ioctl,getrandom,getentropy,pthread_create,"
			 "pthread_create_2_1,pthread_setspecific,pthread_getattr_np,"
			 "allocate_stack,start_thread,atexit,on_exit,cxa_atexit,"
			 "new_exitfn",
	},
	{
		/*
		 * The same of static programs: malloc/malloc.c and arena.c of glibc, libio, elf
		 * and nptl, posix/regcomp.c; src/malloc, src/env and src/regex of musl.
		 */
		.whole = "sysmalloc,sysmalloc_mmap,sysmalloc_mmap_fallback,systrim,munmap_chunk,"
			 "mremap_chunk,unlink_chunk,ptmalloc_init,arena_get2,arena_get_retry,"
			 "reused_arena,new_heap,alloc_new_heap,grow_heap,shrink_heap,heap_trim,"
			 "tcache_init,tcache_get,tcache_put,tcache_malloc_init,tcache_calloc,"
			 "tcache_key_initialize,malloc_consolidate,malloc_hook_ini,"
			 "realloc_hook_ini,calloc_hook_ini,memalign_hook_ini,malloc_printerr,"
			 "opendir_tail,create_token_tree,calc_eclosure_iter,build_trtable,"
			 "alloc_slot,alloc_group,enframe,nontrivial_free,libc_start_main_stage2,"
			 "libc_start_init,static_init_tls,copy_tls",
		.begins = "_int_malloc,_int_free,_int_realloc,_int_memalign,_mid_memalign,__libc_,"
			  "__malloc,__memalign,__bin_chunk,__expand_heap,_IO_,_dl_,_nl_,__gconv_,"
			  "__nss_,_nss_,__tunable,__pthread_,__clone,re_node_set_,re_string_,"
			  "re_acquire_state,re_dfa_add_node,re_compile_,re_search_internal,__tre_,"
			  "tre_",
	},
	{
		/*
		 * GCC's libgcc, libiberty, obstacks and BFD (xmalloc.c, obstack.c, objalloc.c,
		 * hashtab.c, libbfd.c, opncls.c), its own collector (ggc-page.c); gnulib's
		 * xalloc.h; git's wrapper.c.
		 */
		.whole = "xmalloc,xcalloc,xrealloc,xreallocarray,xstrdup,xstrndup,xmemdup,"
			 "xmemdup0,xmemdupz,xmallocz,xmallocz_gently,do_xmalloc,do_xmallocz,"
			 "xzalloc,xnmalloc,xnrealloc,xcharalloc,x2realloc,x2nrealloc,xpalloc,"
			 "xalignalloc,ximalloc,xizalloc,xicalloc,xirealloc,xireallocarray,"
			 "ximemdup,ximemdup0,xinmalloc,xasprintf,xvasprintf,xmmap,xmmap_gently,"
			 "xmalloc_nonull_array,objalloc_create,_objalloc_alloc,htab_expand,"
			 "ggc_internal_alloc,ggc_internal_cleared_alloc,ggc_realloc,"
			 "ggc_alloc_string",
		.begins = "_obstack_begin,_obstack_newchunk,_obstack_allocated,rpl_obstack,"
			  "bfd_malloc,bfd_zmalloc,bfd_realloc,bfd_alloc,bfd_zalloc,"
			  "bfd_hash_allocate,htab_create",
	},
	{
		/* In git alone: strbuf.c, mem-pool.c and alloc.c. */
		.module = "git",
		.whole = "alloc_node",
		.begins = "strbuf_,mem_pool_,alloc_blob_node,alloc_tree_node,alloc_commit_node,"
			  "alloc_tag_node,alloc_object_node",
	},
	{
		/*
		 * jemalloc (src/jemalloc.c, extent.c, pages.c, base.c) with its prefixes, also
		 * those of Rust's crates.
		 */
		.whole = "imalloc,imalloc_body,imalloc_no_sample,imalloc_sample,large_palloc,"
			 "large_ralloc,arena_slab_alloc,arena_slab_alloc_hard,"
			 "arena_bin_malloc_hard,arena_malloc_hard,arena_palloc,arena_ralloc,"
			 "extent_grow_retained,extent_recycle,extent_recycle_extract,"
			 "extent_alloc_core,extent_alloc_mmap,pages_map,os_pages_map,"
			 "os_pages_commit,base_block_alloc,pac_alloc_real,pac_alloc_impl,"
			 "hpa_alloc,hpa_alloc_batch_psset,malloc_default,malloc_init,"
			 "malloc_init_hard,tcache_alloc_small_hard,tcache_bin_flush_small,"
			 "tcache_bin_flush_large,tsd_tcache_data_init",
		.begins = "je_,_rjem_,tikv_jemallocator::,jemallocator::",
	},
	{
		/* tcmalloc: src/tcmalloc.cc of gperftools, tcmalloc/tcmalloc.cc. */
		.whole = "tc_malloc,tc_free,tc_calloc,tc_realloc,tc_memalign,tc_valloc,tc_pvalloc,"
			 "tc_cfree",
		.begins = "tcmalloc::,TCMalloc_,TCMallocInternal,tc_new,tc_delete,"
			  "tc_posix_memalign,tc_malloc_,tc_free_,(anonymous namespace)::do_malloc,"
			  "(anonymous namespace)::do_memalign,(anonymous namespace)::do_realloc",
	},
	{
		/*
		 * mimalloc: include/mimalloc.h, src/alloc.c, page.c, segment.c and arena.c. MyISAM
		 * has other functions mi_.
		 */
		.whole = "mi_find_page,mi_expand,mi_bin",
		.begins = "_mi_,mi_malloc,mi_zalloc,mi_calloc,mi_mallocn,mi_realloc,mi_reallocf,"
			  "mi_reallocn,mi_rezalloc,mi_recalloc,mi_heap_,mi_theap_,mi_new,"
			  "mi_aligned,mi_memalign,mi_posix_memalign,mi_valloc,mi_pvalloc,"
			  "mi_strdup,mi_strndup,mi_realpath,mi_free,mi_cfree,mi_page_,mi_segment,"
			  "mi_arena_,mi_arenas_,mi_os_,mi_thread_init,mi_process_init,mi_prim_,"
			  "unix_mmap_prim",
	},
	{
		/*
		 * Chromium (base/allocator, blink's WTF) and Firefox (memory/mozalloc,
		 * memory/build/mozjemalloc.cpp).
		 */
		.whole = "moz_xmalloc,moz_xcalloc,moz_xrealloc,moz_xstrdup,moz_xmemdup,ShimMalloc,"
			 "ShimCalloc,ShimRealloc,ShimCppNew",
		.begins = "partition_alloc::,allocator_shim::,base::allocator::,"
			  "base::PartitionRoot,WTF::Partitions::,WTF::PartitionAllocator::,"
			  "WTF::Vector<,WTF::VectorBuffer,WTF::HashTable<,WTF::StringImpl::,"
			  "blink::Partitions::,moz_arena_,nsTArray_base<,nsTArray_Impl<,"
			  "BaseAllocator::,Allocator<MozJemalloc",
	},
	{
		/*
		 * GLib: gmem.c, gslice.c, gstrfuncs.c, garray.c, gstring.c, ghash.c, glist.c,
		 * gqueue.c, gtree.c; GObject's gtype.c.
		 */
		.whole = "g_memdup,g_memdup2,g_type_create_instance,slab_allocator_alloc_chunk,"
			 "allocator_add_slab,allocator_memalign,magazine_chain_pop_head,"
			 "thread_memory_magazine1_alloc,thread_memory_magazine1_reload",
		.begins = "g_malloc,g_realloc,g_try_malloc,g_try_realloc,g_aligned_alloc,g_slice_,"
			  "g_strdup,g_strndup,g_strnfill,g_strconcat,g_strjoin,g_strsplit,"
			  "g_array_,g_ptr_array_,g_byte_array_,g_string_,g_hash_table_,g_list_,"
			  "g_slist_,g_queue_,g_tree_insert,g_tree_node_new,g_bytes_new,"
			  "slab_allocator_,magazine_cache_",
	},
	{
		/* APR: memory/unix/apr_pools.c, strings and tables. */
		.whole = "allocator_alloc,psprintf_flush,apr_pmemdup,apr_psprintf,apr_pvsprintf,"
			 "apr_bucket_alloc",
		.begins = "apr_palloc,apr_pcalloc,apr_pstr,apr_pool_create,apr_allocator_,"
			  "apr_array_,apr_table_,apr_hash_make,apr_hash_set",
	},
	{
		/*
		 * nginx: src/os/unix/ngx_alloc.c, src/core/ngx_palloc.c, ngx_slab.c, ngx_array.c,
		 * ngx_list.c, ngx_buf.c, ngx_string.c.
		 */
		.whole = "ngx_alloc,ngx_calloc,ngx_memalign,ngx_prealloc,ngx_pmemalign,ngx_pstrdup",
		.begins = "ngx_palloc,ngx_pnalloc,ngx_pcalloc,ngx_create_pool,ngx_slab_,"
			  "ngx_array_,ngx_list_,ngx_create_temp_buf,ngx_create_chain_of_bufs,"
			  "ngx_alloc_chain_link,ngx_chain_get_free_buf",
	},
	{
		/*
		 * OpenSSL and its heirs: crypto/mem.c, o_str.c, mem_sec.c, buffer.c, stack.c,
		 * lhash.c.
		 */
		.begins = "CRYPTO_malloc,CRYPTO_zalloc,CRYPTO_calloc,CRYPTO_realloc,"
			  "CRYPTO_clear_realloc,CRYPTO_aligned_alloc,CRYPTO_strdup,CRYPTO_strndup,"
			  "CRYPTO_memdup,CRYPTO_secure_malloc,CRYPTO_secure_zalloc,"
			  "CRYPTO_secure_calloc,OPENSSL_malloc,OPENSSL_zalloc,OPENSSL_calloc,"
			  "OPENSSL_realloc,OPENSSL_clear_realloc,OPENSSL_memdup,OPENSSL_strdup,"
			  "OPENSSL_strndup,OPENSSL_sk_,OPENSSL_LH_,OPENSSL_lh_,BUF_MEM_grow,"
			  "BUF_strdup,BUF_memdup",
	},
	{
		/* SQLite: src/malloc.c, mem1.c to mem5.c, pcache1.c, printf.c. */
		.whole = "dbMallocRawFinish,dbReallocFinish,mallocWithAlarm,pcache1Alloc,"
			 "pcache1AllocPage,pcache1InitBulk,pcache1ResizeHash,memsys5Malloc,"
			 "memsys5MallocUnsafe,memsys5Realloc,memsys3Malloc",
		.begins = "sqlite3Malloc,sqlite3Realloc,sqlite3DbMalloc,sqlite3DbRealloc,"
			  "sqlite3DbStr,sqlite3DbSpanDup,sqlite3MemMalloc,sqlite3MemRealloc,"
			  "sqlite3PageMalloc,sqlite3PcacheMalloc,sqlite3_malloc,sqlite3_realloc,"
			  "sqlite3_mprintf,sqlite3_vmprintf,sqlite3MPrintf,sqlite3VMPrintf,"
			  "sqlite3StrAccum,sqlite3_str_",
	},
	{
		/* PHP: Zend/zend_alloc.c, zend_smart_str.c, main/snprintf.c. */
		.whole = "smart_str_erealloc,smart_str_realloc,zend_strndup",
		.begins = "__zend_malloc,__zend_calloc,__zend_realloc,_emalloc,_ecalloc,_erealloc,"
			  "_safe_emalloc,_safe_malloc,_safe_erealloc,_safe_realloc,_estrdup,"
			  "_estrndup,zend_mm_,_zend_mm_,zend_vspprintf,zend_spprintf,"
			  "zend_strpprintf",
	},
	{
		/*
		 * PostgreSQL: src/common/fe_memutils.c, psprintf.c, stringinfo.c,
		 * src/backend/utils/mmgr.
		 */
		.whole = "palloc,palloc0,palloc_extended,palloc_aligned,palloc_mul,palloc0_mul,"
			 "palloc_internal,repalloc,repalloc0,repalloc_extended,repalloc_huge,"
			 "pstrdup,pnstrdup,pchomp,psprintf,pvsnprintf,enlargeStringInfo,"
			 "makeStringInfo,initStringInfo",
		.begins = "pg_malloc,pg_realloc,pg_strdup,MemoryContextAlloc,MemoryContextStrdup,"
			  "appendStringInfo,appendBinaryStringInfo,AllocSetAlloc,AllocSetRealloc,"
			  "AllocSetContextCreate",
	},
	{
		/* In the server of PostgreSQL alone. */
		.module = "postgres",
		.whole = "DynaHashAlloc,element_alloc,new_list,enlarge_list",
		.begins = "SlabAlloc,SlabRealloc,GenerationAlloc,GenerationRealloc,BumpAlloc,"
			  "lappend,dsa_allocate",
	},
	{
		/*
		 * MySQL and MariaDB: mysys/my_malloc.cc, my_alloc.cc, array.c, InnoDB's mem0mem.cc
		 * and ut0new.h.
		 */
		.whole = "my_malloc,my_realloc,my_strdup,my_strndup,my_memdup,my_multi_malloc,"
			 "my_raw_malloc,my_raw_realloc,my_internal_malloc,my_once_alloc,"
			 "alloc_root,strdup_root,strmake_root,memdup_root,multi_alloc_root,"
			 "init_alloc_root,root_alloc,sql_alloc,thd_alloc,thd_calloc,"
			 "insert_dynamic,allocate_dynamic",
		.begins = "MEM_ROOT::,mem_heap_create_,mem_heap_add_block,mem_heap_alloc,"
			  "mem_heap_zalloc,mem_heap_dup,mem_heap_strdup,ut_allocator<,"
			  "ut::allocator<,ut::malloc,ut::zalloc,ut::realloc,ut::aligned_,"
			  "ut::detail::",
	},
	{
		/* Redis and Valkey: src/zmalloc.c and sds.c. */
		.whole = "zmalloc,zcalloc,zrealloc,zstrdup,ztrymalloc,ztrycalloc,ztryrealloc,"
			 "zcalloc_num,sdsnew,sdsnewlen,_sdsnewlen,sdstrynewlen,sdsempty,sdsdup,"
			 "sdscat,sdscatlen,sdscatsds,sdscatprintf,sdscatvprintf,sdscatfmt,"
			 "sdscatrepr,sdscpy,sdscpylen,sdsgrowzero,sdsMakeRoomFor,_sdsMakeRoomFor,"
			 "sdsMakeRoomForNonGreedy,sdsResize,sdsRemoveFreeSpace,sdsfromlonglong",
		.begins = "zmalloc_usable,zcalloc_usable,zrealloc_usable,ztrymalloc_usable,"
			  "ztrycalloc_usable,ztryrealloc_usable,extend_to_usable,valkey_malloc,"
			  "valkey_calloc,valkey_realloc",
	},
	{
		/* Lua: lauxlib.c, lmem.c, lgc.c, lstring.c; LuaJIT: lj_alloc.c, lj_gc.c. */
		.whole = "l_alloc,luaC_newobj,luaC_newobjdt,luaS_newlstr,internshrstr,"
			 "createstrobj,luaL_prepbuffsize,luaL_addlstring,resizebox,prepbuffsize",
		.begins = "luaM_,lj_alloc_,lj_mem_",
	},
	{
		/* Perl: util.c, sv.c and malloc.c, in programs without and with threads. */
		.whole = "Perl_malloc,Perl_calloc,Perl_realloc,Perl_savepv,Perl_savepvn,"
			 "Perl_savesvpv,Perl_more_bodies,Perl_more_sv,S_more_sv,S_new_SV,"
			 "S_new_body,Perl_sv_grow,Perl_sv_grow_fresh,Perl_newSV",
		.begins = "Perl_safesys,Perl_av_extend",
	},
	{
		/* Ruby: gc.c and gc/default.c. */
		.whole = "ruby_strdup,ruby_mimmalloc,newobj_of,newobj_alloc,newobj_init,rb_newobj,"
			 "rb_newobj_of,rb_wb_protected_newobj_of,rb_wb_unprotected_newobj_of,"
			 "rb_ec_wb_protected_newobj_of,rb_imemo_new,rb_data_object_zalloc,"
			 "rb_data_typed_object_zalloc,rb_data_object_wrap,"
			 "rb_data_typed_object_wrap,rb_class_allocate_instance,heap_page_allocate,"
			 "heap_page_body_allocate,heap_assign_page",
		.begins = "ruby_xmalloc,ruby_xcalloc,ruby_xrealloc,objspace_xmalloc,"
			  "objspace_xcalloc,objspace_xrealloc,rb_xmalloc_,rb_xcalloc_,"
			  "rb_xrealloc_,rb_gc_impl_malloc,rb_gc_impl_calloc,rb_gc_impl_realloc,"
			  "rb_gc_impl_new_obj,rb_alloc_tmp_buffer,newobj_slowpath,"
			  "heap_page_allocate_",
	},
	{
		/* CPython: Objects/obmalloc.c, Modules/gcmodule.c. */
		.whole = "PyType_GenericAlloc,_PyType_AllocNoTrack",
		.begins =
			"PyMem_,_PyMem_,PyObject_Malloc,PyObject_Calloc,PyObject_Realloc,PyObject_Free,_PyObject_Malloc,_PyObject_Calloc,_PyObject_Realloc,_PyObject_Free,_PyObject_New,_PyObject_GC_,pymalloc_",
	},
	{
		/* In the program python alone. */
		.module = "python,libpython",
		.whole = "allocate_from_new_pool,new_arena",
	},
	{
		/*
		 * HotSpot: src/hotspot/share/memory and nmt, os.cpp, and the allocators of its
		 * heaps.
		 */
		.module = "libjvm.so",
		.begins = "os::malloc,os::realloc,os::strdup,os::reserve_memory,os::commit_memory,"
			  "os::pd_,os::Linux::,AllocateHeap,ReallocateHeap,AnyObj::,CHeapObj,"
			  "Arena::,Chunk::,ChunkPool::,ResourceArea::,ResourceObj::,"
			  "resource_allocate_bytes,resource_reallocate_bytes,GrowableArray,"
			  "MemTracker::,MallocTracker::,ArrayAllocator,MmapArrayAllocator,"
			  "Metaspace::allocate,metaspace::,ClassLoaderMetaspace::,"
			  "MetaspaceArena::,VirtualSpace::,ReservedSpace,MemAllocator::,"
			  "ObjAllocator::,ObjArrayAllocator::,InstanceKlass::allocate_instance,"
			  "TypeArrayKlass::allocate,ObjArrayKlass::allocate,oopFactory::new_",
	},
	{
		/*
		 * C++: operator new of any ABI, libstdc++, and what stands for std in other
		 * libraries.
		 */
		.begins = "operator new,operator delete,_Znw,_Zna,__cxa_,std::,__gnu_cxx::,"
			  "boost::container::,boost::unordered,absl::container_internal::,"
			  "folly::F14,folly::f14::,folly::fbvector,folly::basic_fbstring,"
			  "llvm::SmallVector,llvm::DenseMap,llvm::StringMapImpl::,"
			  "llvm::BumpPtrAllocator,llvm::allocate_buffer,llvm::safe_malloc,"
			  "Eigen::internal::aligned_,Eigen::internal::conditional_aligned_",
	},
	{
		/* Qt: src/corelib/tools and text. */
		.whole = "qMallocAligned,qReallocAligned",
		.begins = "QArrayData,QTypedArrayData<,QtPrivate::Q,QListData::,QList<,QVector<,"
			  "QHashData::,QHash<,QHashPrivate::,QMap<,QMapData,QString::,"
			  "QByteArray::,QVarLengthArray<",
	},
	{
		/* Rust: alloc, core and std, and crates with containers. */
		.begins = "__rust_,__rdl_,__rg_,__rustc::__r,alloc::,core::,hashbrown::,"
			  "smallvec::,indexmap::,bytes::bytes_mut::,bytes::bytes::",
	},
	{
		/* Go: its runtime and packages; cgo has further names (is_cgo()). */
		.begins = "runtime.,strings.,bytes.,slices.,maps.",
	},
	{
		/* D: druntime, src/rt/lifetime.d, core/internal/gc. */
		.whole = "gc_malloc,gc_qalloc,gc_calloc,gc_realloc,gc_extend",
		.begins = "_d_newclass,_d_newitem,_d_newarray,_d_newThrowable,_d_allocmemory,"
			  "_d_allocclass,_d_arrayappend,_d_arraysetlength,_d_arraycat,"
			  "_d_arrayliteral,_D4core8internal2gc,_D4core6memory2GC,_D2rt8lifetime",
	},
	{
		/* Swift: stdlib/public/runtime/Heap.cpp, HeapObject.cpp. */
		.whole = "swift_bufferAllocate",
		.begins = "swift_alloc,swift_slowAlloc,_swift_alloc,_swift_slowAlloc",
	},
	{
		/* Objective-C: libobjc of GCC and of GNUstep, Foundation's NSZone.m. */
		.whole = "objc_malloc,objc_calloc,objc_realloc,objc_alloc,objc_alloc_init,"
			 "objc_atomic_malloc,class_createInstance,_class_createInstanceFromZone,"
			 "_objc_rootAlloc,_objc_rootAllocWithZone,NSAllocateObject,NSZoneMalloc,"
			 "NSZoneCalloc,NSZoneRealloc",
	},
	{
		/* libxml2: xmlmemory.c, xmlstring.c, buf.c, dict.c; expat's xmlparse.c. */
		.whole = "expat_malloc,expat_realloc,poolGrow,poolStoreString,xmlMemoryStrdup,"
			 "xmlStrdup,xmlStrndup,xmlStrcat,xmlStrncat",
		.begins = "xmlMem,xmlMalloc,xmlRealloc,xmlCharStr,xmlBuf,xmlDictLookup,"
			  "xmlDictAddString",
	},
	{
		/*
		 * curl: lib/memdebug.c, strdup.c, dynbuf.c. (Curl_cmalloc and its kin are
		 * pointers.)
		 */
		.whole = "Curl_memdup,Curl_memdup0,Curl_strdup,Curl_saferealloc,dyn_nappend",
		.begins = "curl_dbg_malloc,curl_dbg_calloc,curl_dbg_realloc,curl_dbg_strdup,"
			  "Curl_dyn_,curlx_dyn_",
	},
	{
		/* GMP's memory.c and tal-reent.c; zlib's zutil.c has zcalloc. */
		.whole = "__gmp_default_allocate,__gmp_default_reallocate,"
			 "__gmp_tmp_reentrant_alloc,__gmp_tmp_alloc,__gmpz_realloc,_mpz_realloc",
	},
	{
		/*
		 * jq's jv_alloc.c, SDL's SDL_malloc.c, FFmpeg's mem.c and buffer.c, libuv's
		 * uv-common.c, Erlang's erl_alloc.c, systemd's alloc-util.c.
		 */
		.whole = "uv__malloc,uv__calloc,uv__realloc,uv__reallocf,uv__strdup,uv__strndup,"
			 "greedy_realloc,greedy_realloc0,greedy_realloc_append,malloc_multiply,"
			 "memdup,memdup_suffix0,strextend_with_separator_internal,strjoin_real",
		.begins = "jv_mem_,SDL_malloc,SDL_calloc,SDL_realloc,SDL_strdup,SDL_aligned_alloc,"
			  "SDL_SIMDAlloc,av_malloc,av_calloc,av_realloc,av_fast_malloc,"
			  "av_fast_realloc,av_fast_padded_malloc,av_strdup,av_strndup,av_memdup,"
			  "av_dynarray,av_buffer_alloc,av_buffer_create,av_buffer_pool_get,"
			  "av_buffer_realloc,erts_alloc,erts_realloc,erts_alcu_,erts_sys_alloc,"
			  "erts_sys_realloc,erts_mseg_",
	},
	{
		/* V8: spaces, allocators and collectors, and what makes its objects; Node.js. */
		.begins = "v8::base::,heap::base::,v8::ArrayBuffer::Allocator::,"
			  "v8::ArrayBuffer::NewBackingStore,v8::internal::BackingStore,"
			  "v8::internal::BodyDescriptor,v8::internal::Page::,"
			  "v8::internal::FreeList,"
			  "v8::internal::(anonymous namespace)::ElementsAccessorBase,"
			  "v8::platform::DefaultJobState::Join,"
			  "v8::platform::DefaultJobHandle::Join,"
			  "v8::platform::DefaultJobWorker::Run,node::Buffer::,v8::internal::Heap,"
			  "v8::internal::Factory,v8::internal::LocalFactory,"
			  "v8::internal::LocalHeap,v8::internal::Allocat,"
			  "v8::internal::MainAllocator,v8::internal::ConcurrentAllocator,"
			  "v8::internal::EvacuationAllocator,v8::internal::MemoryAllocator,"
			  "v8::internal::MemoryChunk,v8::internal::BasicMemoryChunk,"
			  "v8::internal::NewSpace,v8::internal::OldSpace,"
			  "v8::internal::OldLargeObjectSpace,v8::internal::NewLargeObjectSpace,"
			  "v8::internal::LargeObjectSpace,v8::internal::CodeLargeObjectSpace,"
			  "v8::internal::PagedSpace,v8::internal::PagedNewSpace,"
			  "v8::internal::SemiSpace,v8::internal::CompactionSpace,"
			  "v8::internal::Scaveng,v8::internal::MarkCompact,v8::internal::Evacuat,"
			  "v8::internal::Sweeper,v8::internal::Zone,"
			  "v8::internal::AccountingAllocator,v8::internal::VirtualMemory,"
			  "v8::internal::BoundedPageAllocator,Builtins_,node::Malloc,"
			  "node::Realloc,node::Calloc,node::UncheckedMalloc,"
			  "node::UncheckedRealloc,node::UncheckedCalloc,"
			  "node::NodeArrayBufferAllocator::",
	},
};

/* Functions of C: also with what GCC and clang add to names of parts and of copies. */
static const char parts_of_c[] = "part.,cold,isra.,constprop.,lto_priv.,llvm.,localalias";

/* Variants of a function of the C library, as __memset_avx2_unaligned_erms and __read_chk. */
static const char variants[] = "sse,ssse,avx,evex,erms,generic,neon,sve,mops,simd,zva,thunderx,"
			       "falkor,kunpeng,emag,a64fx,oryon,chk,internal,tail,nocancel";

/* Types and parameters of Rust that a crate cannot add functions to. */
static const char no_crate[] = "u8,u16,u32,u64,u128,usize,i8,i16,i32,i64,i128,isize,f32,f64,bool,"
			       "char,str,(),T,U,I,F,K,V,A,S";

/* Builtins of V8 work for a function of JavaScript, but these are such functions themselves. */
static const char of_script[] =
	"Builtins_Interpreter,Builtins_Baseline,Builtins_JSEntry,Builtins_JSRun,"
	"Builtins_ArgumentsAdaptor,Builtins_CompileLazy";

/* The part of a function that GCC or clang split off, and a name inside of glibc, are its own. */
static struct text_part plain_name(struct text_part name)
{
	struct text_part rest = name, whole = part_split(&rest, '.');

	part_cut_prefix(&whole, "__GI_");
	if (!rest.len || part_begins_any(rest, parts_of_c))
		return whole;
	part_cut_prefix(&name, "__GI_");
	return name;
}

static bool has_whole(const char *list, struct text_part name)
{
	if (part_lists(part_of(list), ',', name))
		return true;
	if (!part_cut_prefix(&name, "__"))
		return false;
	if (part_lists(part_of(list), ',', name))
		return true;
	for (size_t i = 1; i < name.len; i++) {
		if (name.s[i] == '_' && part_begins_any(part_behind(name, i + 1), variants))
			return part_lists(part_of(list), ',', (struct text_part){name.s, i});
	}
	return false;
}

/* `module`: NULL if it is not known. */
static bool is_listed(struct text_part name, const char *module)
{
	if (part_begins_any(name, of_script))
		return false;
	name = plain_name(name);
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const struct family *f = &families[i];

		if (f->module && !(module && part_begins_any(part_of(module), f->module)))
			continue;
		if ((f->whole && has_whole(f->whole, name)) ||
		    (f->begins && part_begins_any(name, f->begins)))
			return true;
	}
	return false;
}

/*
 * What cgo makes for C.malloc() and its kin: "main._Cfunc__CMalloc", "main._Cfunc_CString" and
 * "_cgo_0d4ddd74268d_Cfunc__Cmalloc" (src/cmd/cgo/out.go).
 */
static bool is_cgo(struct text_part name)
{
	static const char made[] = "_Cfunc__CMalloc,_Cfunc_CString,_Cfunc_CBytes,_Cfunc_GoString,"
				   "_Cfunc_GoBytes,_cgo_cmalloc";
	size_t last = 0;

	if (part_begins(name, "_cgo_") && part_cut_suffix(&name, "_Cfunc__Cmalloc"))
		return true;
	for (size_t i = 0; i < name.len; i++) {
		if (name.s[i] == '.' && part_begins(part_behind(name, i + 1), "_"))
			last = i + 1;
	}
	return last && part_begins_any(part_behind(name, last), made);
}

/* The versions of Abseil are namespaces: "absl::lts_20220623::container_internal::…". */
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
	if (is_listed(type, NULL))
		return true;
	while (type.len && strchr("]);, ", type.s[type.len - 1]))
		type.len--;
	return trait.len && part_begins_any(trait, "alloc::,core::,std::,hashbrown::") &&
	       part_lists(part_of(no_crate), ',', type);
}

bool passes_on(const char *name, const char *module)
{
	struct text_part part = function_name_part(name);

	/* A symbol without a size: the nearest one before the address. */
	part_cut_suffix(&part, "~");
	if (part.len && part.s[0] == '<')
		return is_rust_path(part, 1);
	return is_listed(part, module) || is_cgo(part) || is_absl_container(part) ||
	       is_v8_allocation(part);
}
