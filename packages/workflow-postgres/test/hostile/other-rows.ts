import {
  assertInvariants,
  assertRollback,
  checkInvariants,
  checkRollback,
  type MemoryTransaction,
  memory,
  memoryTransaction,
  readDump,
  testWorkflow,
  VirtualClock,
} from '@belay/testing'
import {
  BelayError,
  DefinitionError,
  define,
  durationMs,
  instantMs,
  type JsonLoggerOptions,
  jsonLogger,
  PermanentError,
  type PinoLike,
  pinoLogger,
  RetryLaterError,
  StoreContendedError,
  StoreUnavailableError,
  statusesIn,
  statusesOf,
  stopOnSignals,
} from '@belay/workflow'
import { migrate, postgres, postgresTransaction } from '../../src/index.ts'
import { pglite, pgliteTransaction } from '../../src/pglite.ts'
import type { Row } from './verdict.ts'
import type { World } from './world.ts'

const greeting = define('greeting', { version: 1 }).step('greet', {
  run: () => 'hello',
  compensate: () => {},
  compensateOn: 'started',
})

const process = { on() {}, off() {}, exit() {} }

/** Does the work in a transaction that is rolled back. */
async function inTransaction(work: (tx: MemoryTransaction) => unknown): Promise<void> {
  await memory().transaction(async (tx) => void (await work(tx)))
}

/** Opens no connection: the address leads nowhere, and `close` follows at once. */
async function closed(adapter: { close(): Promise<void> }): Promise<void> {
  await adapter.close()
}

export const OTHER_ROWS: readonly Row<World>[] = [
  {
    name: 'durationMs',
    call: (_, ...args) => durationMs(...(args as unknown as Parameters<typeof durationMs>)),
    args: () => ['1s', 'timeout'],
    where: ['timeout is', 'is not a duration'],
  },
  {
    name: 'instantMs',
    call: (_, ...args) => instantMs(...(args as unknown as Parameters<typeof instantMs>)),
    args: () => ['2026-01-01', 'startAt'],
    where: ['startAt is', 'is not an instant'],
  },
  {
    name: 'jsonLogger',
    call: (_, options) => jsonLogger(options as JsonLoggerOptions),
    args: () => [{}],
    options: { 0: ['level'] },
  },
  { name: 'statusesOf', call: (_, word) => statusesOf(word as string), args: () => ['failed'] },
  {
    name: 'statusesIn',
    call: (_, words) => statusesIn(words as readonly string[]),
    args: () => [['failed']],
    where: ['No run has a status'],
  },
  { name: 'pinoLogger', call: (_, pino) => pinoLogger(pino as PinoLike), args: () => [console] },
  {
    name: 'stopOnSignals',
    call: (_, ...args) => stopOnSignals(...(args as unknown as Parameters<typeof stopOnSignals>))(),
    args: ({ engine }) => [engine, process, {}],
    options: { 2: ['signals', 'timeout', 'afterwards', 'logger'] },
  },
  ...([BelayError, DefinitionError, PermanentError, StoreContendedError, StoreUnavailableError] as const).map(
    (Kind): Row<World> => ({
      name: Kind.name,
      call: (_, ...args) => String(new (Kind as new (...given: unknown[]) => Error)(...args).message),
      args: () => (Kind === BelayError ? ['invalid_option', 'Give another.', {}] : ['Give another.', {}]),
      options: { [Kind === BelayError ? 2 : 1]: ['cause', 'runId', 'step', 'attempt'] },
    }),
  ),
  {
    name: 'RetryLaterError',
    call: (_, options) => new RetryLaterError(options),
    args: () => [{ after: '1s' }],
    options: { 0: ['after', 'message', 'cause', 'limit'] },
    where: ['RetryLaterError'],
  },
  {
    name: 'postgres',
    call: (_, ...args) => closed(postgres(...(args as unknown as Parameters<typeof postgres>))),
    args: () => ['postgres://nobody@127.0.0.1:1/nothing', {}],
    options: {
      1: [
        'schema',
        'autoMigrate',
        'prepare',
        'connectionsMax',
        'listen',
        'queryTimeoutMs',
        'transactionsMax',
        'transactionIdleTimeoutMs',
      ],
    },
  },
  {
    name: 'pglite',
    call: (_, ...args) => closed(pglite(...(args as unknown as Parameters<typeof pglite>))),
    args: () => [undefined, {}],
    options: { 1: ['schema', 'autoMigrate', 'shared'] },
  },
  {
    name: 'migrate',
    // This test is not about the connection.
    call: (_, options) => migrate('postgres://nobody@127.0.0.1:1/nothing', options),
    args: () => [{}],
    options: { 0: ['schema'] },
    where: ['migrate()', 'the database "nothing"'],
  },
  { name: 'postgresTransaction', call: (_, options) => void postgresTransaction(options), args: () => [{}] },
  { name: 'pgliteTransaction', call: (_, options) => void pgliteTransaction(options), args: () => [{}] },
  { name: 'memoryTransaction', call: (_, options) => void memoryTransaction(options), args: () => [{}] },
  { name: 'memory', call: (_, options) => memory(options), args: () => [{}], options: { 0: ['clock'] } },
  {
    name: 'VirtualClock',
    call: (_, start) => new VirtualClock(start),
    args: () => [0],
  },
  {
    name: 'clock.after',
    call: (_, ...args) => new VirtualClock().after(...(args as unknown as [number, () => void])),
    args: () => [1, () => {}],
  },
  { name: 'clock.advance', call: (_, length) => new VirtualClock().advance(length), args: () => [1] },
  { name: 'clock.advanceTo', call: (_, instant) => new VirtualClock().advanceTo(instant), args: () => [1] },
  {
    name: 'clock.runUntil',
    call: (_, ...args) => new VirtualClock().runUntil(...(args as unknown as [Promise<void>])),
    args: () => [Promise.resolve(), {}],
    options: { 1: ['limit'] },
  },
  {
    name: 'clock.onStandstill',
    call: (_, fire) => new VirtualClock().onStandstill(fire).cancel(),
    args: () => [() => {}],
  },
  {
    name: 'testWorkflow',
    call: async (_, ...args) => {
      const test = testWorkflow(...(args as unknown as Parameters<typeof testWorkflow>))
      await test.end({ limit: '1h' })
      await test.close()
    },
    args: () => [greeting, {}],
    options: { 1: ['input', 'workflows', 'now', 'run', 'engine'] },
    where: ['testWorkflow()', 'createEngine()', 'run()', 'Input of workflow'],
  },
  ...([checkRollback, assertRollback] as const).map(
    (check): Row<World> => ({
      name: check.name,
      call: (_, ...args) => check(...(args as unknown as Parameters<typeof checkRollback>)),
      args: () => [greeting, {}],
      options: {
        1: [
          'input',
          'workflows',
          'now',
          'run',
          'engine',
          'limit',
          'effects',
          'reset',
          'drive',
          'withoutEffect',
        ],
      },
      callsBack: true,
      where: ['checkRollback()', 'testWorkflow()', 'createEngine()', 'run()', 'end()', 'Input of workflow'],
    }),
  ),
  { name: 'clock.now', call: () => new VirtualClock().now(), args: () => [] },
  { name: 'adapter.connect', call: () => memory().connect(), args: () => [] },
  { name: 'adapter.dump', call: () => memory().dump(), args: () => [] },
  {
    name: 'adapter.transaction',
    call: (_, work) => memory().transaction(work),
    args: () => [() => 1],
    callsBack: true,
  },
  {
    name: 'transaction.onCommit',
    call: (_, effect) => inTransaction((tx) => tx.onCommit(effect)),
    args: () => [() => {}],
    callsBack: true,
  },
  { name: 'checkInvariants', call: (_, source) => checkInvariants(source), args: () => [memory()] },
  {
    name: 'assertInvariants',
    call: (_, source) => assertInvariants(source),
    args: () => [memory()],
    where: ['checkInvariants()'],
  },
  {
    name: 'readDump',
    call: (_, ...args) => readDump(...(args as unknown as Parameters<typeof readDump>)),
    args: ({ adapter }) => [adapter, []],
  },
]
