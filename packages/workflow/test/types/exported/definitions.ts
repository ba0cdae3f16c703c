import { addStep, define, defineGraph, unchecked } from '@belay/workflow'
import { z } from 'zod'

// A library exports such definitions, with declarations: each inferred type must be nameable through '@belay/workflow' alone.

const schema = z.object({ id: z.string(), at: z.date(), note: z.string().optional() })

export const plain = define('plain', { version: 1 })
export const withInput = define('withInput', { version: 1, input: schema })
export const uncheckedInput = define('unchecked', { version: 1, input: unchecked<{ readonly id: string }>() })
export const batched = define('batched', {
  version: 1,
  input: schema,
  start: { batch: { max: 3, within: '1s' } },
})
export const stepped = withInput.step('step', {
  run: async ({ input }) => ({ id: input.id, at: new Date() }),
})
export const skippable = stepped.step('maybe', { when: () => true, dependsOn: ['step'], run: () => 1 })
export const continues = stepped.step('fails', { onFailure: 'continue', run: () => [1, 'a'] as const })
export const settled = continues.step('last', { dependsOn: ['fails'], run: ({ deps }) => deps.fails })
export const added = addStep(stepped, 'added', { run: () => undefined })
export const chosen = stepped.choose('way', { cases: ['a', 'b'], on: () => 'a' })
export const mapped = stepped.map('items', { over: () => [{ a: 1 }], run: ({ item }) => item.a })
export const collected = stepped.map('items', {
  onFailure: 'collect',
  over: () => [1],
  run: ({ item }) => item,
})
export const repeated = stepped.repeat('rounds', {
  first: () => 0,
  run: ({ last }) => last + 1,
  until: () => true,
})
export const childLoop = stepped.repeat('loop', plain, { until: () => true })
export const slept = stepped.sleep('sleep', { for: '1s' })
export const signalled = plain.waitForSignal('signal')
export const signalledWith = plain.waitForSignal('signal', {
  schema,
  timeout: '1d',
  onTimeout: { output: null },
})
export const signalledContinues = plain.waitForSignal('signal', { schema, onFailure: 'continue' })
export const approved = plain.approval('approval')
export const approvedWith = plain.approval('approval', { schema })
export const approvedMaybe = approvedWith.approval('second', { when: () => true })
export const polled = stepped.poll('poll', { every: '1s', until: () => ({ ready: true }) })
export const child = plain.workflow('child', signalledWith).workflow('second', 'other')
export const childWithOptions = plain.workflow('child', signalledWith, { key: 'k' })
export const childNamed = plain.workflow('child', 'other', { detached: true })
export const childContinues = plain.workflow('child', polled, {
  input: () => ({ id: '', at: new Date() }),
  onFailure: 'continue',
})
export const fanned = plain.workflow('fan', plain, { over: () => [1, 2] })
export const collectedFan = plain.workflow('fan', approved, { over: () => [1, 2], onFailure: 'collect' })
export const ended = approvedMaybe
  .onCompleted('thank', { run: ({ outputs }) => outputs.approval?.by ?? '' })
  .onFailed('tell', { dependsOn: ['thank'], onSkipped: 'run', run: ({ cause }) => cause ?? null })
  .onCompensated('undone', { run: ({ undo }) => undo })
  .finally('always', { onFailure: 'continue', run: () => 1 })
export const graph = defineGraph('graph', {
  version: 1,
  input: schema,
  steps: { a: { handler: 'work' }, b: { handler: 'work' } },
  dag: { b: ['a'] },
})
