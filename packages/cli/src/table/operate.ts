import type { Arg, Verb } from './verb.ts'

const LIMIT: Arg = { name: 'limit', about: 'the name of a limit', completes: 'limits' }
const SCHEDULE: Arg = { name: 'schedule', about: 'the name of a schedule', completes: 'schedules' }

const LIMITS: readonly Verb[] = [
  {
    name: 'limits',
    group: 'operate',
    summary: 'how much may be under way at once',
    about:
      'Lists the limits that workers have declared: what each key of a limit allows, how much is in use, and how many steps wait. What was set at run time, with limits set, goes before what code declares, until limits reset.',
    examples: [{ command: 'limits', about: 'all limits with their use' }],
    access: 'read',
  },
  {
    name: 'limits set',
    group: 'operate',
    summary: 'until it is reset',
    about:
      'Sets a limit for all of its keys and all workers, at once, until it is reset. 0 lets nobody in; what runs already ends undisturbed. It refuses a limit that no worker has declared.',
    args: [LIMIT],
    flags: ['slots', 'rate'],
    examples: [
      { command: 'limits set payments --slots 20', about: '20 at once for each key' },
      { command: 'limits set partner --rate 100/1s', about: '100 begin in each second' },
    ],
    access: 'write',
  },
  {
    name: 'limits reset',
    group: 'operate',
    summary: 'to what its code declares',
    about: 'Lets a limit go back to what code declares.',
    args: [LIMIT],
    examples: [{ command: 'limits reset payments', about: 'what code declares holds again' }],
    access: 'write',
  },
]

const SCHEDULES: readonly Verb[] = [
  {
    name: 'schedules list',
    group: 'operate',
    summary: 'when they fire next',
    about: 'Lists schedules by name, with their times and the next one.',
    flags: [
      ['workflow', 'schedules of this workflow'],
      ['limit', 'at most this many, 1 to 1,000; default 100'],
      ['after', 'names after this one'],
    ],
    examples: [
      { command: 'schedules list', about: 'all of them' },
      { command: 'schedules list --workflow nightly-report', about: 'those of a workflow' },
    ],
    access: 'read',
  },
  {
    name: 'schedules preview',
    group: 'operate',
    summary: 'its next times',
    about: 'Tells the next times of a schedule in its own time zone and in UTC, also while it is paused.',
    args: [SCHEDULE],
    flags: [['count', 'how many, 1 to 1,000; default 10']],
    examples: [{ command: 'schedules preview nightly-report --count 2', about: 'the next two times' }],
    access: 'read',
  },
  {
    name: 'schedules history',
    group: 'operate',
    summary: 'its firings, newest first',
    about:
      'Lists the firings of a schedule, newest first, with the runs that they started, or the reason why there is none. The newest 100 are kept.',
    args: [SCHEDULE],
    flags: [['limit', 'at most this many; default 20']],
    examples: [{ command: 'schedules history nightly-report', about: 'the newest firings' }],
    access: 'read',
  },
  {
    name: 'schedules trigger',
    group: 'operate',
    summary: 'now, once',
    about:
      'Fires a schedule now, also a paused one. Its next time stays. If an earlier run is live, what the schedule says about overlaps holds; the status is 1 if no run was started or queued.',
    args: [SCHEDULE],
    examples: [{ command: 'schedules trigger nightly-report', about: 'a report now' }],
    access: 'write',
  },
  {
    name: 'schedules pause',
    group: 'operate',
    summary: 'until it is resumed',
    about: 'Stops a schedule until it is resumed. Its runs go on.',
    args: [SCHEDULE],
    flags: [['reason', 'why; the list of schedules shows it']],
    examples: [{ command: "schedules pause nightly-report --reason 'on holiday'", about: 'with a reason' }],
    access: 'write',
  },
  {
    name: 'schedules resume',
    group: 'operate',
    summary: 'with its next time',
    about: 'Lets a paused schedule go on with its next time. Times that passed do not fire.',
    args: [SCHEDULE],
    examples: [{ command: 'schedules resume nightly-report', about: 'it fires again' }],
    access: 'write',
  },
]

export const OPERATE: readonly Verb[] = [
  {
    name: 'doctor',
    group: 'operate',
    summary: 'what is wrong, and what to do',
    about:
      'Looks for reasons why runs do not progress, or soon will not, and says for each what to do, the worst first. The status is 1 if there is a finding, and 3 if the store cannot be used.',
    examples: [
      { command: 'doctor', about: 'one line if all is well' },
      { command: 'doctor --json', about: 'for an alarm' },
    ],
    access: 'read',
  },
  {
    name: 'workers',
    group: 'operate',
    summary: 'who executes steps',
    about:
      'Lists the workers of all processes, with their slots and the workflows that they have. A worker that stopped gracefully is not listed.',
    flags: [['limit', 'at most this many, 1 to 10,000; default 100']],
    examples: [{ command: 'workers', about: 'all workers' }],
    access: 'read',
  },
  ...LIMITS,
  ...SCHEDULES,
  {
    name: 'prune',
    group: 'operate',
    summary: 'delete runs that ended long ago',
    about:
      'Deletes runs that ended long ago, with their steps and history. Live runs, and those of which an undo failed, stay. It asks for the number of runs first. With --archive each run is written to a file before it is deleted.',
    flags: [
      'older-than',
      'workflow',
      'tag',
      ['archive', 'first appends them to this file, with payloads, one JSON document a line'],
      'dry-run',
      'yes',
      'expect',
    ],
    examples: [
      { command: 'prune --older-than 30d --dry-run', about: 'how many there are, by status' },
      { command: 'prune --older-than 30d --archive runs.ndjson --yes', about: 'with copies, in a script' },
    ],
    access: 'write',
  },
  {
    name: 'migrate',
    group: 'operate',
    summary: 'bring the schema up to date',
    about:
      'Creates or updates Belay’s tables. Any number of processes may do it at once. It refuses a migration that stops older code while workers run.',
    flags: ['dry-run', ['show-sql', 'with --dry-run: the statements on stdout']],
    examples: [
      { command: 'migrate --dry-run', about: 'what is pending' },
      { command: 'migrate --dry-run --show-sql', about: 'the statements, to read, or to run with psql' },
      { command: 'migrate', about: 'does it' },
    ],
    access: 'write',
  },
]
