import { FILTERS } from './flags.ts'
import type { Arg, Verb } from './verb.ts'

export const RUN: Arg = {
  name: 'run',
  about: 'a key like order:9184, workflow/key, an id, or its first 8 digits',
  completes: 'runs',
}

export const SEE: readonly Verb[] = [
  {
    name: '',
    group: 'see',
    summary: 'what needs you',
    about:
      'Says which runs need a person, how many go on, how many of those that ended in the last hour had failed, and which workers are live. Then it names one command that leads on.',
    examples: [
      { command: '', about: 'what needs you, then how things are' },
      { command: '--json', about: 'for a script' },
    ],
    access: 'read',
  },
  {
    name: 'list',
    group: 'see',
    summary: 'newest first',
    about:
      'Lists runs, newest first, with the conditions that you give. An empty list says which condition left nothing.',
    flags: [...FILTERS, ['limit', 'at most this many, 1 to 1,000; default 20'], 'before', 'after'],
    examples: [
      { command: 'list', about: 'the newest runs' },
      { command: 'list --status waiting --tag tenant:7', about: 'those of a tenant that wait' },
      {
        command: 'list --status failed --since 2h --json --fields id,key',
        about: 'for a script',
      },
    ],
    access: 'read',
  },
  {
    name: 'show',
    group: 'see',
    summary: 'one run, its graph',
    about:
      'Shows a run with its steps in lanes: a lane runs down from a step to those that depend on it. Of a run that did not complete, it shows what was undone, first to last. With --fields it prints these properties of the run, by their names in the API.',
    args: [RUN],
    flags: [
      ['graph', 'the lanes also of a run that did not complete'],
      ['payloads', 'also inputs, outputs and published values, which may be private'],
    ],
    examples: [
      { command: 'show order:9182', about: 'by its key' },
      { command: 'show fulfil-order/order:9184 --graph', about: 'the lanes of a run that was undone' },
      { command: 'show order:9182 --json --fields status,finishedAt', about: 'for a script' },
    ],
    access: 'read',
  },
  {
    name: 'items',
    group: 'see',
    summary: 'of a map, by status',
    about:
      'Lists the items of a map of a run in their order: each with its key, its attempts and the name of its error. After them it says how many items have each status. With the name of an item, like packItem[3], the verbs for a step act on it.',
    args: [RUN, { name: 'map', about: 'the name of a map of the run', completes: 'steps' }],
    flags: [
      ['status', 'items with this status; failed also finds those whose undo failed'],
      ['limit', 'at most this many; default 20'],
      ['after', 'items after the one with this index'],
      ['payloads', 'also messages of errors and, with --fields or --json, outputs'],
    ],
    examples: [
      { command: 'items order:9182 packItem', about: 'the first 20' },
      { command: 'items order:9182 packItem --status failed --json', about: 'what failed, for a script' },
    ],
    access: 'read',
  },
  {
    name: 'watch',
    group: 'see',
    summary: 'until it ends',
    about:
      'Follows a run until it has ended, or until its undo waits for a person, and draws its lanes again in place. The exit status is 1 unless the run completed. In a pipe and with --plain it writes a sentence for each change, with --json the run after each change, one document a line. With --all it follows the newest runs, and those that need a person.',
    args: [{ ...RUN, optional: true }],
    flags: [
      ['all', 'the newest runs, instead of one'],
      'interval',
      ['payloads', 'payloads too, with --json'],
    ],
    examples: [
      { command: 'watch order:9184', about: 'on a terminal; q leaves, and the run goes on' },
      { command: 'watch order:9184 --plain', about: 'a sentence for each change' },
      { command: 'watch --all', about: 'all that goes on' },
    ],
    access: 'read',
  },
  {
    name: 'explain',
    group: 'see',
    summary: 'why it stands still',
    about:
      'Says what a run and each of its open steps wait for, and until when, with the commands that fit. Steps that only wait for others are counted, unless you give --all.',
    args: [RUN],
    flags: [['all', 'also steps that wait for others, and why steps were skipped']],
    examples: [
      { command: 'explain order:9183', about: 'what it waits for, and what you can do' },
      { command: 'explain order:9183 --all', about: 'every step' },
    ],
    access: 'read',
  },
  {
    name: 'history',
    group: 'see',
    summary: 'who did what',
    about:
      'Lists the actions of operators on a run, and the signals and decisions that it received, oldest first.',
    args: [RUN],
    flags: [
      ['limit', 'at most this many of the newest; default 200'],
      ['payloads', 'also payloads of signals, and what an action changed'],
    ],
    examples: [
      { command: 'history order:9182', about: 'who did what, and why' },
      { command: 'history order:9182 --json --fields at,by,action', about: 'for a script' },
    ],
    access: 'read',
  },
  {
    name: 'export',
    group: 'see',
    summary: 'as NDJSON',
    about:
      'Writes runs with their steps, kept attempts and history, newest first, one JSON document a line. It reads one run at a time. Payloads and messages of errors are left out unless you give --payloads.',
    flags: [...FILTERS, 'limit', 'payloads'],
    examples: [
      { command: 'export --workflow fulfil-order --since 1d', about: 'the runs of a day' },
      { command: 'export --status failed --limit 10 --payloads', about: 'all that is stored about a few' },
    ],
    access: 'read',
  },
  {
    name: 'approvals',
    group: 'see',
    summary: 'waiting for people',
    about:
      'Lists steps that wait for a decision, those of the newest runs first. Approvals whose turn has not come are left out.',
    flags: [
      ['workflow', 'of this workflow'],
      ['limit', 'at most this many; default 20'],
    ],
    examples: [
      { command: 'approvals', about: 'all decisions that are open' },
      { command: 'approvals --workflow fulfil-order --json', about: 'those of a workflow' },
    ],
    access: 'read',
  },
  {
    name: 'graph',
    group: 'see',
    summary: 'of a workflow',
    about:
      'Draws the steps of a stored workflow in lanes, with what each one is. Attempts, timeouts and items at once are in the code: they are shown if the config has this version.',
    args: [{ name: 'workflow', about: 'its name', completes: 'workflows' }],
    flags: [['version', 'this version; default: the one that a new run gets'], 'mermaid', 'dot'],
    examples: [
      { command: 'graph fulfil-order', about: 'its newest version' },
      { command: 'graph fulfil-order --version 3 --mermaid', about: 'for a README' },
    ],
    access: 'read',
  },
]
