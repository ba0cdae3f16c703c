import type { RunHandle } from '@belay/workflow'
import type { Row } from './verdict.ts'
import type { World } from './world.ts'

type HandleRow = Omit<Row<World>, 'call' | 'args'> & {
  readonly call: (run: RunHandle, ...args: never[]) => unknown
  readonly args: () => readonly unknown[]
}

const ACTION = ['by', 'reason']
const PAYLOAD = ['Payload for step']

/** Every method of a handle that does not wait for the end of its run. */
const VERBS: readonly HandleRow[] = [
  ...(['pause', 'resume', 'retry', 'cancel'] as const).map(
    (verb): HandleRow => ({
      name: verb,
      call: (run, options) => run[verb](options),
      args: () => [{}],
      options: {
        0: [...ACTION, ...(verb === 'retry' ? [] : ['tx']), ...(verb === 'cancel' ? ['compensate'] : [])],
      },
      where: [`${verb}()`, 'Run ', 'The tx given to'],
    }),
  ),
  ...(['retryStep', 'skipStep', 'giveUpStep', 'retryCompensation', 'skipCompensation'] as const).map(
    (verb): HandleRow => ({
      name: verb,
      call: (run, ...args) => run[verb](...(args as unknown as [never, never])),
      args: () => ['ok', verb === 'giveUpStep' ? { reason: 'it hangs' } : {}],
      options: { 1: [...ACTION, ...(verb === 'skipStep' ? ['output'] : [])] },
      where: [`${verb}()`, 'Run ', 'Step "ok" of run', 'Stand-in output of step "ok"'],
    }),
  ),
  {
    name: 'setPriority',
    call: (run, ...args) => run.setPriority(...(args as unknown as [number])),
    args: () => [5, {}],
    options: { 1: [...ACTION, 'tx'] },
    where: ['setPriority()', 'Run ', 'The tx given to'],
  },
  {
    name: 'history',
    call: (run, options) => run.history(options),
    args: () => [{}],
    options: { 0: ['limit'] },
  },
  { name: 'status', call: (run) => run.status(), args: () => [] },
  { name: 'values', call: (run) => run.values(), args: () => [] },
  {
    name: 'watch',
    call: async (run, options) => {
      const changes = run.watch(options)
      await changes.next()
      await changes.return?.()
    },
    args: () => [{}],
    options: { 0: ['signal'] },
    where: ['watch()', 'The watch of '],
  },
  { name: 'explain', call: (run) => run.explain(), args: () => [] },
  {
    name: 'signal',
    call: (run, ...args) => run.signal(...(args as unknown as Parameters<typeof run.signal>)),
    args: () => ['paid', 1, {}],
    options: { 2: ['key', 'tx'] },
    where: ['signal()', 'Workflow "hostile"', ...PAYLOAD, 'The tx given to'],
  },
  ...(['approve', 'reject'] as const).map(
    (verb): HandleRow => ({
      name: verb,
      call: (run, ...args) => run[verb](...(args as unknown as Parameters<typeof run.approve>)),
      args: () => ['ok', { by: 'ann' }],
      options: { 1: ['by', 'comment', 'key', 'tx', ...(verb === 'approve' ? ['payload'] : [])] },
      where: [`${verb}()`, 'Workflow "hostile"', 'Step "ok"', ...PAYLOAD, 'The tx given to'],
    }),
  ),
]

/** The rows of a handle's methods. */
export function handleRows(prefix: string, handleOf: (world: World) => RunHandle): readonly Row<World>[] {
  return VERBS.map((row) => ({
    ...row,
    name: `${prefix}.${row.name}`,
    call: (world, ...args) => row.call(handleOf(world), ...args),
    where: [...(row.where ?? [`${row.name}()`]), 'There is no run'],
  }))
}

/** The same verbs as methods of an engine, which take the run as an argument. */
export function engineVerbRows(): readonly Row<World>[] {
  return VERBS.filter(({ name }) => name !== 'status' && name !== 'history').map((row) => ({
    ...row,
    name: `engine.${row.name}`,
    call: ({ engine }, ...args) =>
      (engine as unknown as Record<string, (...given: unknown[]) => unknown>)[row.name]!(...args),
    args: ({ run }) => [run.id, ...row.args()],
    options: Object.fromEntries(
      Object.entries(row.options ?? {}).map(([position, names]) => [Number(position) + 1, names]),
    ),
    where: [...(row.where ?? []), `${row.name}()`, 'There is no run'],
  }))
}
