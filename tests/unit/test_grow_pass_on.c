// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which functions only pass memory on, by real names; and the parts of names. */
#include "unit.h"

#include "grow/pass_on.h"
#include "model/function_name.h"

/* Of glibc, libstdc++, GCC's and clang's demangled symbols, rustc, Go and Node.js. */
static const char *const passing[] = {
	"malloc",
	"malloc~",
	"__libc_calloc",
	"_int_malloc",
	"xrealloc",
	"operator new",
	"operator new[]",
	"std::vector<int, std::allocator<int> >::push_back",
	"void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>",
	"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_append",
	"std::pair<std::_Rb_tree_iterator<std::pair<int const, long> >, bool> std::_Rb_tree<int, "
	"std::pair<int const, long>, std::_Select1st<std::pair<int const, long> >, std::less<int>, "
	"std::allocator<std::pair<int const, long> > >::_M_emplace_unique<int, long>",
	"std::enable_if<std::is_class<shop::Cart>::value, void>::type std::swap<shop::Cart>",
	"shop::Cart* std::__uninitialized_copy<false>::__uninit_copy<shop::Cart const*, shop::Cart*>",
	"std::deque<shop::Cart, std::allocator<shop::Cart> >::emplace_back<shop::Cart>",
	"std::__detail::_Map_base<int, std::pair<int const, int>, std::allocator<std::pair<int const, "
	"int> >, std::__detail::_Select1st>::operator[]",
	"std::function<void ()>::operator()",
	"__gnu_cxx::new_allocator<int>::allocate",
	"boost::container::vector<int>::priv_insert",
	"absl::container_internal::raw_hash_set<int>::resize",
	"absl::lts_20220623::container_internal::raw_hash_set<int>::resize",
	"folly::f14::detail::F14Table<int>::reserveForInsert",
	"alloc::raw_vec::finish_grow",
	"alloc::vec::Vec<T,A>::push",
	"<alloc::vec::Vec<u8>>::push",
	"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
	"<alloc::string::String as core::fmt::Write>::write_str",
	"<T as alloc::string::ToString>::to_string",
	"<u8 as alloc::slice::hack::ConvertVec>::to_vec",
	"<[u8] as alloc::borrow::ToOwned>::to_owned",
	"<&str as core::convert::Into<alloc::string::String>>::into",
	"<str as alloc::string::SpecToString>::spec_to_string",
	"<alloc::vec::Vec<shop::Cart> as alloc::vec::spec_from_iter::SpecFromIter<shop::Cart, "
	"I>>::from_iter",
	"alloc::slice::<impl [T]>::to_vec",
	"core::iter::traits::iterator::Iterator::collect",
	"<core::iter::adapters::map::Map<I,F> as core::iter::traits::iterator::Iterator>::fold",
	"core::ops::function::FnOnce::call_once",
	"hashbrown::raw::RawTable<T,A>::reserve_rehash",
	"<hashbrown::raw::RawTable<(u64, shop::Cart)>>::reserve_rehash",
	"std::collections::hash::map::HashMap<K,V,S>::insert",
	"<std::collections::hash::map::HashMap<u64, shop::Cart>>::insert",
	"__rust_alloc",
	"__rustc::__rust_realloc",
	"runtime.mallocgc",
	"runtime.growslice",
	"runtime.(*mheap).alloc",
	"runtime.systemstack.abi0",
	"strings.(*Builder).grow",
	"strings.Repeat",
	"bytes.(*Buffer).Write",
	"v8::internal::Heap::AllocateRaw",
	"v8::internal::HeapAllocator::AllocateRawWithLightRetrySlowPath",
	"v8::internal::Factory::NewFillerObject",
	"v8::internal::FactoryBase<v8::internal::Factory>::NewFixedArrayWithFiller",
	"v8::internal::Handle<v8::internal::String> v8::internal::FactoryBase<v8::internal::Factory>::"
	"NewStringFromOneByte<1>",
	"v8::internal::Scavenger::Process",
	"v8::internal::Runtime_Space::AllocateSeqOneByteString",
	"v8::internal::Runtime_AllocateInYoungGeneration",
	"v8::base::OS::Allocate",
	"v8::platform::DefaultJobWorker::Run",
	"void v8::internal::BodyDescriptorBase::IteratePointers<v8::internal::ScavengeVisitor>",
	"v8::ArrayBuffer::NewBackingStoreForNodeLTS",
	"Builtins_StringAdd_CheckNone",
	"_PyObject_GC_NewVar",
	"node::NodeArrayBufferAllocator::Allocate",
};

static const char *const own[] = {
	"main",
	"remember",
	"mallocator",
	"freeze",
	"remember~",
	"~",
	"xmalloc_user",
	"shop::Cart::add",
	"void shop::Cart::add<std::vector<int> >",
	"std::vector<int, std::allocator<int> > shop::list<int>",
	"std::enable_if<true, void>::type shop::fill<std::string>",
	"decltype (f(0)) shop::call<std::function<int (int)> >",
	"shop::operator<< <std::ostream>",
	"shop::Cart::operator new",
	"shop::Cart::operator std::string",
	"stdlib::keep",
	"absl::Status::Status",
	"absl::lts_20220623::StrCat",
	"allocate_order",
	"coreutils::run",
	"leak::Sessions::login",
	"<leak::Sessions>::login",
	"<leak::Session as core::clone::Clone>::clone",
	"<leak::Session as alloc::string::ToString>::to_string",
	"<u8 as leak::Keep>::keep",
	"<alloc_counter::Total as core::default::Default>::default",
	"leak::keep::<alloc::vec::Vec<u8>>",
	"leak::main::{{closure}}",
	"main.keep",
	"main.(*Cache).Add",
	"net/http.(*Server).Serve",
	"runtime",
	"runtime.part.0",
	"runtime.cold",
	"runtime_init",
	"v8::internal::Runtime_ArrayIncludes_Slow",
	"v8::internal::JsonParser<unsigned char>::ParseJsonValue",
	"v8::internal::Builtin_HandleApiCall",
	"node::fs::ReadFileUtf8",
	"Builtins_InterpreterEntryTrampoline",
	"Builtins_JSEntry",
	"PyList_Append",
	"LazyCompile:*keep /app/server.js:12:14",
	"py::keep:/app/a b<c>/job.py",
	"py::main:/srv/std::list <1>/job.py",
	"[another task: kswapd0]",
	"",
	"<",
	"<<<",
	"< as core::",
	"operator",
	"a<b",
	" ",
};

/* A few of each family, and in which files those of general names count. */
static const struct {
	const char *name, *module;
} families[] = {
	/* glibc and musl, in static programs */
	{"__munmap"},
	{"__madvise"},
	{"munmap_chunk"},
	{"systrim.constprop.0"},
	{"_int_free_maybe_consolidate.part.0"},
	{"unlink_chunk.isra.0"},
	{"arena_get2.part.0"},
	{"__strdup"},
	{"__GI___strndup"},
	{"__getdelim"},
	{"getline"},
	{"__vasprintf_internal"},
	{"_IO_file_doallocate"},
	{"__posix_memalign"},
	{"_mid_memalign.constprop.0"},
	{"__memset_avx512_unaligned_erms"},
	{"__strcpy_chk"},
	{"__libc_alloca_cutoff"},
	{"__add_to_environ"},
	{"ptmalloc_init.part.0"},
	{"__libc_malloc_impl"},
	{"__malloc_allzerop"},
	{"__expand_heap"},
	{"__fdopen"},
	/* libraries and programs */
	{"xmemdup0"},
	{"x2nrealloc"},
	{"_obstack_newchunk"},
	{"bfd_zmalloc2"},
	{"strbuf_grow", "git"},
	{"_rjem_je_arena_palloc"},
	{"imalloc_no_sample"},
	{"tcmalloc::ThreadCache::FetchFromCentralCache"},
	{"TCMallocInternalMalloc"},
	{"_mi_malloc_generic"},
	{"mi_heap_malloc_aligned"},
	{"void* partition_alloc::PartitionRoot::AllocInternal<0>"},
	{"g_malloc0_n"},
	{"g_ptr_array_maybe_expand"},
	{"apr_palloc"},
	{"ngx_palloc_large.isra.0"},
	{"CRYPTO_zalloc"},
	{"BUF_MEM_grow_clean"},
	{"sqlite3DbMallocRawNN"},
	{"dbMallocRawFinish"},
	{"_emalloc_large"},
	{"zend_mm_alloc_huge"},
	{"palloc0"},
	{"MemoryContextAllocZero"},
	{"SlabAlloc", "postgres"},
	{"MEM_ROOT::AllocSlow"},
	{"my_malloc"},
	{"ztrymalloc_usable_internal"},
	{"_sdsMakeRoomFor"},
	{"luaM_saferealloc_"},
	{"Perl_safesysrealloc"},
	{"objspace_xmalloc0"},
	{"allocate_from_new_pool", "python3.11"},
	{"new_arena", "libpython3.12.so.1.0"},
	{"os::malloc", "libjvm.so"},
	{"Arena::grow", "libjvm.so"},
	{"operator new[]"},
	{"_Znwj"},
	{"QArrayData::allocate"},
	{"QHash<QString, shop::Cart>::emplace"},
	{"main._Cfunc__CMalloc"},
	{"github.com/shop/c._Cfunc_CString"},
	{"_cgo_0d4ddd74268d_Cfunc__Cmalloc"},
	{"_d_newarrayT"},
	{"swift_slowAlloc"},
	{"class_createInstance"},
	{"xmlMemMalloc"},
	{"curlx_dyn_addn"},
	{"__gmp_default_reallocate"},
	{"SDL_malloc_REAL"},
	{"av_mallocz"},
	{"uv__malloc"},
};

/* Of users, with names that are like those. */
static const struct {
	const char *name, *module;
} own_like[] = {
	{"mmap_file"},
	{"clone"},
	{"malloc_session"},
	{"brk_table_add"},
	{"memset_all_sessions"},
	{"read_config"},
	{"__read_config"},
	{"getline_all"},
	{"tcache_add"},
	{"tc_core"},
	{"mi_open"},
	{"mi_write"},
	{"Arena::grow"},
	{"Arena::grow", "server"},
	{"Chunk::Chunk", "server"},
	{"os::malloc", "server"},
	{"arena_alloc"},
	{"SlabAlloc", "server"},
	{"strbuf_grow", "server"},
	{"new_arena"},
	{"sds_keep"},
	{"my_session"},
	{"g_sessions_add"},
	{"sqlite3VdbeSorterWrite"},
	{"ngx_http_create_request"},
	{"PyObject_Repr"},
	{"_PyObject_MakeTpCall"},
	{"QSession::add"},
	{"_cgo_0d4ddd74268d_Cfunc_keep"},
	{"main._Cfunc_keep"},
	{"main.malloc"},
	{"strdup.keep"},
	{"remember.part.0"},
	{"WTF::Sessions::add"},
};

TEST(pass_on)
{
	for (size_t i = 0; i < ARRAY_SIZE(passing); i++) {
		if (!passes_on(passing[i], NULL))
			fail_msg("it passes memory on: %s", passing[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (passes_on(own[i], NULL))
			fail_msg("it is the program's own: %s", own[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (!passes_on(families[i].name, families[i].module))
			fail_msg("it passes memory on: %s", families[i].name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(own_like); i++) {
		if (passes_on(own_like[i].name, own_like[i].module))
			fail_msg("it is the program's own: %s", own_like[i].name);
	}
}

/* Names are made by programs that are watched: a long one takes no long time. */
TEST(hostile)
{
	static char name[1 << 20];

	for (const char *pattern = "<a(: "; *pattern; pattern++) {
		for (size_t i = 0; i < sizeof(name) - 1; i++)
			name[i] = i % 2 ? *pattern : '<';
		assert_false(passes_on(name, NULL));
	}
}

TEST(names)
{
	static const struct {
		const char *text, *name;
	} parts[] = {
		{"main", "main"},
		{"void keep<int>", "keep<int>"},
		{"std::enable_if<a<b>::value, int>::type (anonymous namespace)::keep<int>",
		 "(anonymous namespace)::keep<int>"},
		{"unsigned long const* keep<int> const", "keep<int> const"},
		{"bool shop::operator< <int>", "shop::operator< <int>"},
		{"operator new", "operator new"},
		{"shop::Cart::operator unsigned long", "shop::Cart::operator unsigned long"},
		{"<T as alloc::string::ToString>::to_string",
		 "<T as alloc::string::ToString>::to_string"},
		{"py::keep:/app/a b.py", "py::keep:/app/a b.py"},
		{"LazyCompile:*keep /app/server.js:12", "LazyCompile:*keep /app/server.js:12"},
		{"decltype ((f)((g)())) std::call<int, long>", "std::call<int, long>"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct text_part part = function_name_part(parts[i].text);

		assert_string_equal(part.s, parts[i].name);
	}
}
