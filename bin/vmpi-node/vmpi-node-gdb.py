# SPDX-License-Identifier: BSD-3-Clause
#
# gdb commands for the ranks of a node process: info ranks, rank, rank apply, and
# the function $mine.
#
# gdb loads this file with the program beside it.  What it has to know of the
# runtime's memory is in vmpi_debug (lib/core/runtime/debug.h), so that neither
# debug information nor a living process is needed.  A rank that waits has its
# registers on its stack.  gdb is told so by an unwinder: the caller of the
# innermost frame of the selected thread is that rank's frame.  Nothing is
# written to the process; a core file will do.

import itertools
import struct

import gdb
import gdb.unwinder

VERSION = 1
X86_64 = {3: 'rbx', 6: 'rbp', 7: 'rsp', 12: 'r12', 13: 'r13', 14: 'r14',
          15: 'r15', 16: 'rip'}


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def word(address, code='Q'):
    return struct.unpack(code, read(address, struct.calcsize(code)))[0]


def text(address):
    result = b''
    while True:
        byte = read(address + len(result), 1)
        if byte == b'\0':
            return result.decode()
        result += byte


def register_name(number, layout):
    if layout['pc'] == 16:
        return X86_64[number]
    return 'sp' if number == 31 else 'x%d' % number


class Runtime:
    """What vmpi_debug says."""

    FIELDS = ('node_own', 'node_ranks', 'rank_index', 'rank_state',
              'rank_main', 'task_sp', 'task_base', 'task_bytes')

    def __init__(self):
        try:
            at = int(gdb.parse_and_eval('(unsigned long)&vmpi_debug'))
        except gdb.error:
            raise gdb.GdbError('this process does not run vmpi, or not yet')
        if word(at, 'I') != VERSION:
            raise gdb.GdbError('this process runs another version of vmpi')
        self.states = text(word(at + 16)).split()
        self.node = word(word(at + 24))
        for i, name in enumerate(self.FIELDS):
            setattr(self, name, word(at + 32 + 4 * i, 'I'))
        at += 32 + 4 * len(self.FIELDS)
        size, count, pc, sp = struct.unpack('4H', read(at, 8))
        self.layout = {'bytes': size, 'pc': pc, 'sp': sp, 'registers': [
            struct.unpack('2H', read(at + 8 + 4 * i, 4))
            for i in range(count)]}

    def ranks(self):
        if not self.node:
            raise gdb.GdbError('no ranks: the runtime does not run now')
        own = word(self.node + self.node_own)
        return [Rank(self, word(own + 8 * i))
                for i in range(word(self.node + self.node_ranks, 'i'))]

    def rank(self, number):
        for rank in self.ranks():
            if rank.index == number:
                return rank
        raise gdb.GdbError('rank %s is not in this process' % number)


class Rank:
    def __init__(self, runtime, at):
        self.index = word(at + runtime.rank_index, 'i')
        state = word(at + runtime.rank_state)
        self.state = (runtime.states[state]
                      if state < len(runtime.states) else '?')
        self.task = word(at + runtime.rank_main)
        self.sp = self.base = self.bytes = 0
        if self.task:
            self.sp = word(self.task + runtime.task_sp)
            self.base = word(self.task + runtime.task_base)
            self.bytes = word(self.task + runtime.task_bytes)
        self.layout = runtime.layout

    def registers(self):
        """The saved ones by name."""
        result = {register_name(number, self.layout): word(self.sp + offset)
                  for number, offset in self.layout['registers']}
        pc = 'rip' if self.layout['pc'] == 16 else 'pc'
        result[pc] = result[register_name(self.layout['pc'], self.layout)]
        result[register_name(self.layout['sp'], self.layout)] = (
            self.sp + self.layout['bytes'])
        return result

    def thread(self, stacks):
        """The thread that it runs on, or None."""
        for thread, sps in stacks:
            if (any(self.base <= sp < self.base + self.bytes for sp in sps)
                    if self.base else thread.num == 1):
                return thread
        return None


def frame_register(frame, name):
    return int(frame.read_register(name)) & (2 ** 64 - 1)


def stack_pointers(frame):
    """Of the first frames: a handler of a signal is on another stack."""
    result = []
    while frame and len(result) < 10:
        result.append(frame_register(frame, 'sp'))
        frame = frame.older()
    return result


def thread_stacks():
    """All threads with their stack pointers; the selected one stays."""
    selected = gdb.selected_thread()
    result = []
    for thread in sorted(gdb.selected_inferior().threads(),
                         key=lambda thread: thread.num):
        thread.switch()
        result.append((thread, stack_pointers(gdb.newest_frame())))
    if selected:
        selected.switch()
    return result


class Unwinder(gdb.unwinder.Unwinder):
    """The selected thread's innermost frame is called by a rank's."""

    def __init__(self):
        super().__init__('vmpi')
        self.rank = None

    def choose(self, rank):
        self.rank = None
        gdb.invalidate_cached_frames()
        if rank:
            frame = gdb.newest_frame()
            self.at = (frame_register(frame, 'sp'), frame.pc())
            self.saved = rank.registers()
            self.rank = rank
            gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if not self.rank:
            return None
        sp = int(pending.read_register('sp')) & (2 ** 64 - 1)
        pc = int(pending.read_register('pc')) & (2 ** 64 - 1)
        if (sp, pc) != self.at:
            return None
        # Below the rank's frames, so that gdb does not doubt their order.
        info = pending.create_unwind_info(
            FrameId(self.rank.sp - 16, pc))
        for name, value in self.saved.items():
            info.add_saved_register(name, gdb.Value(value))
        return info


class FrameId:
    def __init__(self, sp, pc):
        self.sp = gdb.Value(sp)
        self.pc = gdb.Value(pc)


unwinder = Unwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)


class Filter:
    """Leaves the thread's own frame out of a rank's backtrace."""

    name = 'vmpi'
    enabled = True
    priority = 100

    def filter(self, frames):
        if unwinder.rank and gdb.newest_frame().pc() == unwinder.at[1]:
            return itertools.islice(frames, 1, None)
        return frames


gdb.frame_filters['vmpi'] = Filter()


def forget(_event):
    unwinder.rank = None


gdb.events.cont.connect(forget)
gdb.events.exited.connect(forget)


def is_runtime(frame):
    name = gdb.solib_name(frame.pc())
    if name is None:
        name = gdb.current_progspace().filename or ''
        return name.endswith('vmpi-node')
    return '/libvmpi.so' in name


def entry(frame):
    """The name of a call of vmpi or MPI, if this is its function."""
    name = frame.name() or ''
    for begin in ('vm_entry_P', 'vm_entry_', 'P', ''):
        rest = name[len(begin):]
        if name.startswith(begin) and (
                rest.startswith('MPI_') or rest.startswith('vmpi_')):
            return rest
    return None


def own_frame():
    """The innermost frame of the selected rank that is the program's, and the
    call that it is in."""
    frame, call = gdb.newest_frame(), None
    if unwinder.rank:
        frame = frame.older()
    found, count = frame, 0
    while frame and count < 64 and frame.name() != 'main':
        if is_runtime(frame) and entry(frame):
            call, found = entry(frame), frame.older()
        if frame.type() == gdb.SIGTRAMP_FRAME:
            call, found = None, frame.older()
        frame = frame.older()
        count += 1
    return found, call


def select(rank, stacks):
    """Makes the rank's frames those that are seen.  False: it has none."""
    unwinder.choose(None)
    if not rank.task or rank.state == 'new':
        return False
    thread = rank.thread(stacks)
    if thread:
        thread.switch()
    elif rank.base <= rank.sp < rank.base + rank.bytes:
        unwinder.choose(rank)
    else:
        return False
    return True


def place(frame):
    """'in main () at prog.c:12'"""
    line = frame.find_sal()
    name = frame.name() or '0x%x' % frame.pc()
    if line.symtab and line.line:
        return 'in %s at %s:%d' % (name, line.symtab.filename, line.line)
    return 'in %s' % name


class InfoRanks(gdb.Command):
    """The ranks of this process: state, call and place in the program.
The rank that is selected is marked by a star."""

    def __init__(self):
        super().__init__('info ranks', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        runtime = Runtime()
        chosen, thread = unwinder.rank, gdb.selected_thread()
        unwinder.choose(None)
        stacks = thread_stacks()
        print('  %-6s %-11s %-20s %s' % ('Rank', 'State', 'Call', 'Place'))
        for rank in runtime.ranks():
            call, where, runs = None, '', False
            if select(rank, stacks):
                runs = not unwinder.rank
                frame, call = own_frame()
                where = place(frame) if frame else ''
                if runs and rank.base:
                    where += ' (thread %d)' % gdb.selected_thread().num
            mark = ' '
            if chosen and rank.index == chosen.index or (
                    not chosen and runs and
                    gdb.selected_thread().num == thread.num):
                mark = '*'
            print('%s %-6d %-11s %-20s %s' % (mark, rank.index, rank.state,
                                              call or '', where))
        unwinder.choose(None)
        if thread:
            thread.switch()
        unwinder.choose(chosen)


class RankCommand(gdb.Command):
    """rank NUMBER: select a rank, whether it runs or waits.
Then backtrace, frame, up, info locals and print are about this rank.
rank apply NUMBER|all COMMAND: run a command for a rank, or for all.
rank off: back to the thread.  Going on with the program does that too."""

    def __init__(self):
        super().__init__('rank', gdb.COMMAND_STACK, prefix=True)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            if not unwinder.rank:
                raise gdb.GdbError('rank NUMBER is needed; see info ranks')
            print('[rank %d]' % unwinder.rank.index)
            return
        try:
            number = int(argument)
        except ValueError:
            raise gdb.GdbError('a number of a rank is needed: "%s"' % argument)
        rank = Runtime().rank(number)
        unwinder.choose(None)
        if not select(rank, thread_stacks()):
            raise gdb.GdbError('rank %d has no stack: %s'
                               % (number, rank.state))
        frame, _call = own_frame()
        frame.select()
        print('[rank %d: %s%s]' % (number, rank.state, '' if unwinder.rank else
                                   ', thread %d' % gdb.selected_thread().num))
        gdb.execute('frame')


class RankOff(gdb.Command):
    """Back from a rank to the selected thread."""

    def __init__(self):
        super().__init__('rank off', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        unwinder.choose(None)


class RankApply(gdb.Command):
    """rank apply NUMBER|all COMMAND: run a gdb command for each rank."""

    def __init__(self):
        super().__init__('rank apply', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(None, 1)
        if len(words) < 2:
            raise gdb.GdbError('rank apply NUMBER|all COMMAND is needed')
        runtime = Runtime()
        ranks = (runtime.ranks() if words[0] == 'all'
                 else [runtime.rank(int(words[0]))])
        chosen, thread = unwinder.rank, gdb.selected_thread()
        unwinder.choose(None)
        stacks = thread_stacks()
        try:
            for rank in ranks:
                print('\nRank %d (%s):' % (rank.index, rank.state))
                if select(rank, stacks):
                    own_frame()[0].select()
                    gdb.execute(words[1])
        finally:
            unwinder.choose(None)
            thread.switch()
            unwinder.choose(chosen)


def loaded():
    """Addresses and paths of all loaded files, as the dynamic linker lists
    them: of each copy of a program."""
    auxv = {line.split()[0]: line.split()[-1] for line in
            gdb.execute('info auxv', to_string=True).splitlines()}
    headers, count = int(auxv['3'], 0), int(auxv['5'], 0)
    base = dynamic = debug = 0
    for i in range(count):
        kind, _flags, _offset, address = struct.unpack(
            'IIQQ', read(headers + 56 * i, 24))
        if kind == 6:
            base = headers - address
        elif kind == 2:
            dynamic = address
    at = base + dynamic
    while word(at):
        if word(at) == 21:
            debug = word(at + 8)
        at += 16
    at, result = word(debug + 8), []
    while at:
        result.append((word(at), text(word(at + 8))))
        at = word(at + 24)
    return result


class Mine(gdb.Function):
    """$mine(&NAME): where the selected rank has this global variable.
The name alone is that of the first rank."""

    def __init__(self):
        super().__init__('mine')

    def invoke(self, pointer):
        there, here = int(pointer), gdb.selected_frame().pc()
        files = loaded()
        base, path = max((f for f in files if f[0] <= there), default=(0, ''))
        own = max((at for at, name in files if name == path and at <= here),
                  default=0)
        if gdb.solib_name(here) != path or gdb.solib_name(there) != path:
            raise gdb.GdbError('select a frame of %s first' %
                               (path or 'the program'))
        return gdb.Value(there - base + own).cast(pointer.type)


InfoRanks()
RankCommand()
RankOff()
RankApply()
Mine()
