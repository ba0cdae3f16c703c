import { deepEqual, equal } from 'node:assert/strict'
import type { Identity, Member } from '@belay/workflow/store'
import {
  completed,
  ended,
  mailFor,
  member,
  newId,
  STEPS,
  type StoreCases,
  type StoreScenario,
  turned,
  written,
} from '../scenario.ts'

interface Owned {
  readonly worker: Identity
  readonly id: string
  commit(change: Partial<Member>): ReturnType<StoreScenario['store']['commit']>
}

async function owned(given: StoreScenario): Promise<Owned> {
  const worker = await given.worker()
  const { id } = await given.start({}, { owner: worker })
  return {
    worker,
    id,
    commit: (change) => given.store.commit(worker, [member({ run: id, fence: 1, ...change })]),
  }
}

const OUTPUT = '{ "amount":12345678901234567890 , "amount":1, "nul":"\\u0000" }'

export const commits: StoreCases = {
  async 'a step that ended well keeps the very text of its output'(given) {
    const { id, commit } = await owned(given)

    await commit({ ends: [ended(1, OUTPUT), ended(2, null)] })

    const { status, attempt, state } = await given.step(id, 1)
    deepEqual([status, attempt, state], ['completed', 1, null])
    deepEqual(
      (
        await given.store.payloads([
          { run: id, no: 1 },
          { run: id, no: 2 },
        ])
      )
        .map(({ no, output }) => [no, output])
        .sort(),
      [
        [1, OUTPUT],
        [2, null],
      ],
    )
  },
  async 'units are born, change and go'(given) {
    const { id, commit } = await owned(given)
    const item = written(3, { scope: 1, index: 0, label: 'k', item: '{"n":1}', state: '[1]' })

    await commit({ births: [item, written(4, { scope: 1, index: 1, label: 'l' })] })
    await commit({
      updates: [written(3, { status: 'failed', failures: 2, error: '"e"', due: 7_000 })],
      drops: [4],
    })

    const { steps } = await given.peek(id)
    deepEqual(
      steps!.map(({ no }) => no),
      [1, 2, 3],
    )
    const { index, label, status, failures, due } = steps![2]!
    deepEqual([index, label, status, failures, due], [0, 'k', 'failed', 2, 7_000])
    const [payloads] = await given.store.payloads([{ run: id, no: 3 }])
    deepEqual([payloads!.item, payloads!.output, payloads!.error], ['{"n":1}', null, '"e"'])
  },
  async 'an update keeps the payloads that it leaves out, and clears those that are null'(given) {
    const { id, commit } = await owned(given)
    const read = async () => {
      const [found] = await given.store.payloads([{ run: id, no: 1 }])
      return [found!.output, found!.error]
    }

    await commit({ updates: [written(1, { output: '1', error: '2', startedAt: 1_000 })] })
    await commit({ updates: [written(1)] })
    const kept = await read()
    await commit({ updates: [written(1, { output: null, error: null })] })

    deepEqual(
      [kept, await read()],
      [
        ['1', '2'],
        [null, null],
      ],
    )
  },
  async 'an undo has counts of its own, and the forward ones stay'(given) {
    const { id, commit } = await owned(given)
    await commit({ ends: [ended(1, '1')] })

    const undo = { attempt: 2, failures: 1, losses: 0, due: 9_000 }
    const failed = { status: 'undoing', undo, state: '[2]', isUndo: true } as const
    await commit({ updates: [written(1, { ...failed, error: '"u"' })] })

    const step = await given.step(id, 1)
    deepEqual([step.status, step.attempt, step.undo, step.state], ['undoing', 1, undo, '[2]'])
    const [payloads] = await given.store.payloads([{ run: id, no: 1 }])
    deepEqual([payloads!.output, payloads!.error], ['1', '"u"'])
  },
  async 'what ended the way forward stays when the undo that begins with it fails, and comes back without that'(
    given,
  ) {
    const { id, commit } = await owned(given)
    const error = async () => (await given.store.payloads([{ run: id, no: 1 }]))[0]!.error
    const undo = { attempt: 1, failures: 0, losses: 0, due: null }
    const undoing = { status: 'undoing', undo, state: '[2]' } as const
    await commit({ updates: [written(1, { ...undoing, error: '"f"' })] })
    const begun = await error()
    await commit({ updates: [written(1, { ...undoing, isUndo: true, error: '"u"' })] })
    const failed = await error()

    await commit({ updates: [written(1, { ...undoing, isUndo: true, error: null })] })

    deepEqual([begun, failed, await error()], ['"f"', '"u"', '"f"'])
  },
  async 'an output is copied from another unit'(given) {
    const { id, commit } = await owned(given)
    await commit({ ends: [ended(1, OUTPUT)] })

    await commit({ updates: [written(2, { status: 'completed', outputOf: 1 })] })

    equal((await given.store.payloads([{ run: id, no: 2 }]))[0]!.output, OUTPUT)
  },
  async 'a run that turns keeps its cause until it has another'(given) {
    const { id, commit } = await owned(given)

    await commit({
      turned: turned({ status: 'compensating', cause: '{"type":"cancelled"}', state: '{"r":1}' }),
    })
    await commit({ turned: turned({ status: 'compensating', paused: true, priority: 4, state: '{"r":2}' }) })

    const { status, cause, paused, priority, state } = await given.peek(id)
    deepEqual(
      [status, cause, paused, priority, state],
      ['compensating', '{"type":"cancelled"}', true, 4, '{"r":2}'],
    )
  },
  async 'a batch with a run of another’s writes nothing'(given) {
    const { worker, id } = await owned(given)
    const foreign = await given.start({}, { owner: await given.worker() })

    const answer = await given.store.commit(worker, [
      member({ run: id, fence: 1, ends: [ended(1)] }),
      member({ run: foreign.id, fence: 1, ends: [ended(1)], mail: [mailFor(id, 'm')] }),
    ])

    deepEqual(answer, { result: 'strange', runs: [foreign.id] })
    deepEqual([(await given.step(id, 1)).status, (await given.peek(id)).mail], ['pending', []])
  },
  async 'a value that cannot be stored refuses its batch, and says so'(given) {
    const { worker, id } = await owned(given)
    const other = await given.start({}, { owner: worker })

    const error: unknown = await given.store
      .commit(worker, [
        member({ run: other.id, fence: 1, ends: [ended(1, '1')] }),
        member({ run: id, fence: 1, ends: [ended(1, '{')] }),
      ])
      .catch((thrown: unknown) => thrown)

    equal(given.store.refusalOf(error), 'data')
    deepEqual(
      [(await given.step(id, 1)).status, (await given.step(other.id, 1)).status],
      ['pending', 'pending'],
    )
  },
  async 'a run that ends is nobody’s, and cannot be claimed'(given) {
    const { worker, id, commit } = await owned(given)

    const answer = await commit({ ends: [ended(1), ended(2)], turned: completed(), after: 'ends' })

    equal(answer.result, 'committed')
    deepEqual([(await given.peek(id)).status, (await given.peek(id)).finishedAt], ['completed', 5_000])
    deepEqual([await given.claim(worker), await given.store.load(worker.worker, { except: [] })], [[], []])
    deepEqual(await commit({ ends: [ended(1)] }), { result: 'strange', runs: [id] })
  },
  async 'a released run waits for its time'(given) {
    const { worker, id, commit } = await owned(given)
    const { startedAt } = { startedAt: (await given.peek(id)).createdAt }

    await commit({ begun: true, after: { due: startedAt + 60_000, lead: 5 } })
    const early = await given.claim(worker)
    await given.advance(60_001)

    deepEqual([early, (await given.claim(worker)).map((run) => run.id)], [[], [id]])
  },
  async 'a commit starts children, but none whose key is taken'(given) {
    const { id, commit } = await owned(given)
    await given.start({ key: 'taken' })
    const child = (key: string) => ({
      ...{ definition: given.definition, workflow: 'order', steps: STEPS },
      run: { id: newId(), key, input: '7', parent: { run: id, unit: 1 } },
    })
    const starts = [child('new'), child('taken')]

    const answer = await commit({ starts, updates: [written(1, { status: 'waiting' })] })

    if (answer.result !== 'committed') throw new Error(answer.result)
    deepEqual(answer.started, [starts[0]!.run.id])
    const { parent, input, steps } = await given.peek(starts[0]!.run.id)
    deepEqual([parent, input, steps!.length], [{ run: id, unit: 1 }, '7', 2])
  },
}
