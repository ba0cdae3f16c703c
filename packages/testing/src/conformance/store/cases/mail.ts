import { deepEqual, equal, ok } from 'node:assert/strict'
import type { Sent } from '@belay/workflow/store'
import { completed, mailFor, member, newId, type StoreCases, type StoreScenario } from '../scenario.ts'

const results = (sent: readonly Sent[]) => sent.map(({ result }) => result)

async function endedRun(given: StoreScenario): Promise<string> {
  const worker = await given.worker()
  const { id } = await given.start({}, { owner: worker })
  await given.store.commit(worker, [member({ run: id, fence: 1, turned: completed(), after: 'ends' })])
  return id
}

export const mail: StoreCases = {
  async 'mail is read in its order by the owner of its run, until it is applied'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })

    const sent = await given.store.send([
      mailFor(id, 'a', { event: '{"n":1}', payload: '{ "x":12345678901234567890}' }),
      mailFor(id, 'b'),
    ])

    deepEqual(
      sent.map((each) => each.result === 'sent' && each.owner),
      [worker.worker, worker.worker],
    )
    const read = await given.store.mailOf(worker.worker, 'hinted')
    deepEqual(
      read.map(({ run, key, payload }) => [run, key, payload]),
      [
        [id, 'a', '{ "x":12345678901234567890}'],
        [id, 'b', null],
      ],
    )
    deepEqual(await given.store.mailOf(worker.worker, 'all'), read)
    const applied = read.map(({ sequence }, n) => ({ sequence, answer: `{"n":${n}}` }))
    await given.store.commit(worker, [member({ run: id, fence: 1, applied })])
    deepEqual(await given.store.mailOf(worker.worker, 'all'), [])
    deepEqual([...(await given.store.answers(read.map(({ sequence }) => sequence))).values()].sort(), [
      '{"n":0}',
      '{"n":1}',
    ])
  },
  async 'the same key again is a duplicate, with its payload and its answer'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    const [first] = await given.store.send([mailFor(id, 'a', { payload: '1' })])

    const before = await given.store.send([mailFor(id, 'a', { payload: '2' })])
    if (first?.result !== 'sent') throw new Error(first?.result)
    await given.store.commit(worker, [
      member({ run: id, fence: 1, applied: [{ sequence: first.sequence, answer: '"yes"' }] }),
    ])
    const after = await given.store.send([mailFor(id, 'a')])

    const { sequence } = first
    deepEqual(
      [...before, ...after],
      [
        { result: 'duplicate', sequence, payload: '1', answer: null },
        { result: 'duplicate', sequence, payload: '1', answer: '"yes"' },
      ],
    )
  },
  async 'mail for a run that has ended, or that there is not, is told so'(given) {
    const id = await endedRun(given)

    deepEqual(results(await given.store.send([mailFor(id, 'a'), mailFor(newId(), 'a')])), [
      'ended',
      'unknown',
    ])
  },
  async 'mail wakes a run that waits for it'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    await given.store.commit(worker, [
      member({ run: id, fence: 1, after: { due: Number.POSITIVE_INFINITY, lead: 0 } }),
    ])
    const before = await given.claim(worker, { mailed: { after: null } })

    await given.store.send([mailFor(id, 'a')])

    deepEqual([before, await given.claim(worker)], [[], []])
    const [run] = await given.claim(worker, { mailed: 'hinted' })
    deepEqual([run!.id, run!.mail.map(({ key }) => key)], [id, ['a']])
  },
  async 'mail that met a release is found by the look at all of it'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    await given.store.send([mailFor(id, 'a')])
    await given.store.commit(worker, [
      member({ run: id, fence: 1, after: { due: Number.POSITIVE_INFINITY, lead: 0 } }),
    ])

    const hinted = await given.claim(worker, { mailed: 'hinted' })
    const [run] = await given.claim(worker, { mailed: { after: null } })

    deepEqual([hinted, run!.id, run!.mail.length], [[], id, 1])
  },
  async 'a run that has ended goes on with mail that reopens it'(given) {
    const id = await endedRun(given)
    const worker = await given.worker()

    const sent = await given.store.send([mailFor(id, 'undo', { reopens: true })])

    deepEqual(results(sent), ['sent'])
    const [run] = await given.claim(worker)
    deepEqual([run!.id, run!.begun, run!.fence > 1, run!.mail.length], [id, true, true, 1])
  },
  async 'a commit sends mail, and names whom to tell'(given) {
    const [one, other] = [await given.worker(), await given.worker()]
    const [from, to] = [await given.start({}, { owner: one }), await given.start({}, { owner: other })]
    const reopened = await endedRun(given)

    const mail = [mailFor(to.id, 'a'), mailFor(to.id, 'a'), mailFor(reopened, 'b', { reopens: true })]
    const answer = await given.store.commit(one, [member({ run: from.id, fence: 1, mail })])

    if (answer.result !== 'committed') throw new Error(answer.result)
    deepEqual([...answer.notify].sort(), [other.worker, null].sort())
    equal((await given.store.mailOf(other.worker, 'hinted')).length, 1)
    equal((await given.claim(one))[0]?.id, reopened)
  },
  async 'a sweep answers mail that met an end, and reopens for mail that asks for it'(given) {
    const worker = await given.worker()
    const [late, goesOn] = [
      await given.start({}, { owner: worker }),
      await given.start({}, { owner: worker }),
    ]
    const [first] = await given.store.send([
      mailFor(late.id, 'a'),
      mailFor(goesOn.id, 'b', { reopens: true }),
    ])
    await given.store.commit(
      worker,
      [late, goesOn].map(({ id }) => member({ run: id, fence: 1, turned: completed(), after: 'ends' })),
    )

    await given.store.sweep()

    if (first?.result !== 'sent') throw new Error(first?.result)
    deepEqual([...(await given.store.answers([first.sequence])).values()], ['"too late"'])
    deepEqual(
      (await given.claim(worker)).map(({ id }) => id),
      [goesOn.id],
    )
  },
  async 'mail in a transaction is there once that has committed'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })

    await given.transaction(async (tx) => {
      await given.store.send([mailFor(id, 'a')], { tx })
    })
    await given
      .transaction(async (tx) => {
        await given.store.send([mailFor(id, 'b')], { tx })
        throw new Error('no')
      })
      .catch(() => {})

    deepEqual(
      (await given.store.mailOf(worker.worker, 'all')).map(({ key }) => key),
      ['a'],
    )
  },
  async 'a round has one outcome of a transaction, and none after a tombstone'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    const outcome = (key: string) => given.transaction((tx) => given.store.within(tx, mailFor(id, key)))

    const first = [await outcome('within:1:1'), await outcome('within:1:1')]
    await given.store.commit(worker, [member({ run: id, fence: 1, tombstones: ['within:1:2'] })])

    deepEqual([...first, await outcome('within:1:2')], [true, false, false])
    deepEqual(
      (await given.store.mailOf(worker.worker, 'all')).map(({ key }) => key),
      ['within:1:1'],
    )
  },
  async 'a tombstone does not replace an outcome that is there'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    await given.transaction((tx) => given.store.within(tx, mailFor(id, 'within:1:1')))

    const error: unknown = await given.store
      .commit(worker, [member({ run: id, fence: 1, tombstones: ['within:1:1'], begun: true })])
      .catch((thrown: unknown) => thrown)

    equal(given.store.refusalOf(error), 'other')
    equal((await given.peek(id)).begun, false)
  },
  async 'a run that has ended takes no outcome'(given) {
    const id = await endedRun(given)

    equal(await given.transaction((tx) => given.store.within(tx, mailFor(id, 'within:1:1'))), false)
  },
  async 'hints reach listeners until they stop'(given) {
    const heard: string[] = []
    let told = () => {}
    const first = new Promise<void>((resolve) => (told = resolve))
    const stop = given.store.onHint((hint) => {
      heard.push(JSON.stringify(hint))
      told()
    })

    // One may be lost: a store may not listen yet.
    const again = setInterval(() => given.store.hint({ worker: 7 }), 100)
    const late = new Promise<never>((_, reject) => setTimeout(reject, 30_000, new Error('No hint came.')))
    await Promise.race([first, late]).finally(() => clearInterval(again))
    stop()

    ok(heard.length > 0)
  },
}
