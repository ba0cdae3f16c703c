import type { StatusWord } from '@belay/workflow'

/** Named here, because help must not load the engine. A test compares them with the engine’s. */
export const STATUSES = [
  'scheduled',
  'running',
  'waiting',
  'parked',
  'paused',
  'compensating',
  'completed',
  'failed',
  'cancelled',
  'compensated',
  'compensation_failed',
  'failed-only',
  'undoing',
  'undone',
  'undo-parked',
] as const satisfies readonly StatusWord[]

/** What a shell offers for a value. */
export type Completes = 'runs' | 'steps' | 'workflows' | 'schedules' | 'limits' | 'files' | readonly string[]

/** A flag. It means the same in every verb that takes it. */
export interface Flag {
  /** What follows it, as help shows it: `<n>`. Nothing for a switch. */
  readonly takes?: string
  /** May be given several times, or with a list separated by commas. */
  readonly many?: true
  readonly about: string
  readonly completes?: Completes
  readonly number?: true
}

export const FLAGS = {
  // Every verb takes these.
  url: { takes: '<url>', about: 'the store: a PostgreSQL URL, or pglite:./directory' },
  schema: { takes: '<name>', about: 'the schema of Belay’s tables; default belay' },
  config: { takes: '<file>', about: 'default: belay.config.ts or .js, here or above', completes: 'files' },
  json: { about: 'one JSON document, with the names of the API' },
  fields: { takes: '<a,b>', many: true, about: 'only these columns, in this order' },
  plain: { about: 'sentences without shapes, for screen readers' },
  ascii: { about: 'shapes and lanes in ASCII' },
  color: { about: 'colours, also in a pipe; --no-color for none' },
  utc: { about: 'times in UTC instead of this machine’s zone' },
  timeout: {
    takes: '<duration>',
    about: 'how long one question to the store may take, default 10s; connecting may take 10s more',
  },

  // Which runs.
  workflow: { takes: '<name>', many: true, about: 'runs of this workflow', completes: 'workflows' },
  version: { takes: '<n>', number: true, about: 'runs of this version of their workflow' },
  status: {
    takes: '<status>',
    many: true,
    about:
      'runs with this status; failed also finds those that were undone after a failure or are parked, failed-only does not',
    completes: STATUSES,
  },
  tag: { takes: '<tag>', many: true, about: 'runs that have this tag, and every other one given' },
  key: {
    takes: '<key>',
    about: 'the run with this key, in each workflow; order:91* for all keys that begin so',
  },
  'waiting-for': {
    takes: '<limit>',
    about: 'runs of which a step waits for this limit, or limit/key',
    completes: 'limits',
  },
  since: { takes: '<time>', about: 'created since: an age like 2h, or an instant' },
  until: { takes: '<time>', about: 'created before: an age like 2h, or an instant' },
  limit: { takes: '<n>', number: true, about: 'at most this many' },
  before: { takes: '<run>', about: 'older than this run' },
  after: { takes: '<last>', about: 'newer than this run' },
  all: { about: 'everything, not only the first or the most important' },

  // What is shown.
  payloads: { about: 'inputs, outputs and messages of errors, which may be private' },
  graph: { about: 'its graph in lanes' },
  mermaid: { about: 'a Mermaid chart' },
  dot: { about: 'a chart for Graphviz' },
  count: { takes: '<n>', number: true, about: 'how many' },
  interval: { takes: '<duration>', about: 'how often it looks; default 1s' },

  // Acting.
  by: { takes: '<name>', about: 'who does it; default: the user of this machine' },
  reason: { takes: '<text>', about: 'why; the history of the run keeps it' },
  comment: { takes: '<text>', about: 'a comment, which the step’s output keeps' },
  data: { takes: '<json>', about: 'the payload' },
  input: { takes: '<json>', about: 'the input' },
  output: { takes: '<json>', about: 'the output that stands in' },
  priority: { takes: '<n>', number: true, about: '0 to 1,000; more is sooner' },
  delay: { takes: '<duration>', about: 'begins that much later' },
  to: { takes: '<version>', number: true, about: 'the version it moves to' },
  compensate: { about: 'undo what was done; --no-compensate keeps it' },
  unchecked: { about: 'without the check that needs the definition' },
  'dry-run': { about: 'says what would be done, and does nothing' },
  yes: { about: 'without asking' },
  expect: { takes: '<n>', number: true, about: 'refuses if it would change another number of runs' },

  // Operating.
  'older-than': { takes: '<duration>', about: 'ended longer ago than this' },
  archive: {
    takes: '<file>',
    about: 'writes what it deletes to this file first, one JSON document a line',
    completes: 'files',
  },
  'show-sql': { about: 'the statements' },
  slots: { takes: '<n>', number: true, about: 'how many may be under way at once' },
  rate: { takes: '<n>/<duration>', about: 'how many may begin in a time' },
  name: { takes: '<name>', about: 'a name' },
  pglite: { about: 'PGlite in a directory, without a server' },
  postgres: { about: 'PostgreSQL, with a compose.yaml' },
  force: { about: 'also where files would be overwritten' },
  port: { takes: '<n>', number: true, about: 'the port; default: a free one' },
  'allow-writes': { about: 'also tools that change the store' },
} as const satisfies Readonly<Record<string, Flag>>

export type FlagName = keyof typeof FLAGS

/** The flags of a call by name, as given. A switch is true, or false with `--no-`. */
export type FlagsGiven = { readonly [Name in FlagName]?: ValueOf<(typeof FLAGS)[Name]> }

type ValueOf<Given> = Given extends { many: true }
  ? readonly string[]
  : Given extends { number: true }
    ? number
    : Given extends { takes: string }
      ? string
      : boolean

export const EVERYWHERE = [
  'url',
  'schema',
  'config',
  'json',
  'fields',
  'plain',
  'ascii',
  'color',
  'utc',
  'timeout',
] as const satisfies readonly FlagName[]

/** Selects runs. With one of these, a verb for one run acts on many. */
export const FILTERS = [
  'workflow',
  'version',
  'status',
  'tag',
  'key',
  'waiting-for',
  'since',
  'until',
] as const satisfies readonly FlagName[]
