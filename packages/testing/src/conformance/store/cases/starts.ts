import { deepEqual, equal } from 'node:assert/strict'
import { newId, type StoreCases } from '../scenario.ts'

const PAYLOAD = '{"a": 12345678901234567890, "a":1,  "n":"\\u0000"}'

export const starts: StoreCases = {
  async 'a started run has its steps, and nobody owns it'(given) {
    const { id, created, owned } = await given.start({ input: PAYLOAD, tags: ['a,b', '"'], priority: 3 })

    deepEqual({ created, owned }, { created: true, owned: false })
    const run = await given.peek(id)
    deepEqual(
      [run.status, run.input, run.tags, run.priority, run.fence, run.state],
      ['running', PAYLOAD, ['a,b', '"'], 3, 0, null],
    )
    deepEqual(
      run.steps!.map(({ no, scope, name, status, attempt }) => [no, scope, name, status, attempt]),
      [
        [1, 0, 'reserve', 'pending', 0],
        [2, 0, 'charge', 'pending', 0],
      ],
    )
  },
  async 'the same start again creates nothing'(given) {
    const id = newId()
    await given.start({ id, input: '1' })

    const again = await given.start({ id, input: '2' })

    deepEqual([again.created, again.input], [false, '1'])
    equal((await given.peek(id)).steps!.length, 2)
  },
  async 'a key that is taken answers the run that has it'(given) {
    const first = await given.start({ key: 'k', input: '1', inputHash: 'h' })

    const [second, other] = await given.startAll([
      { id: newId(), key: 'k', input: '2' },
      { id: newId(), key: 'l', input: '3' },
    ])

    deepEqual(second, { ...first, created: false })
    equal(other!.created, true)
  },
  async 'of two calls with one key at the same time one creates the run'(given) {
    const both = await Promise.all([given.start({ key: 'k' }), given.start({ key: 'k' })])

    equal(both[0].id, both[1].id)
    equal(both.filter(({ created }) => created).length, 1)
  },
  async 'a worker owns at once what it starts, if it may begin now'(given) {
    const worker = await given.worker()

    const now = await given.start({}, { owner: worker })
    const later = await given.start({ startDelayMs: 1_000 }, { owner: worker })

    deepEqual([now.owned, later.owned], [true, false])
    equal((await given.store.load(worker.worker, { only: [now.id] }))[0]?.fence, 1)
    deepEqual(await given.claim(await given.worker()), [])
  },
  async 'a worker in another epoch starts runs for anybody'(given) {
    const worker = await given.worker()
    await given.store.bump(worker.worker)

    const run = await given.start({}, { owner: worker })

    deepEqual([run.created, run.owned], [true, false])
    equal((await given.claim(await given.worker())).length, 1)
  },
  async 'a start in a transaction is there once that has committed'(given) {
    const worker = await given.worker()
    let id = ''
    await given.transaction(async (tx) => {
      id = (await given.start({}, { tx })).id
    })

    deepEqual(
      (await given.claim(worker)).map((run) => run.id),
      [id],
    )
  },
  async 'a start in a transaction that rolls back leaves nothing'(given) {
    let id = ''
    const rolledBack = given.transaction(async (tx) => {
      id = (await given.start({ key: 'k' }, { tx })).id
      throw new Error('no')
    })

    await rolledBack.catch(() => {})
    deepEqual(await given.store.peek([id]), [])
    equal((await given.start({ key: 'k' })).created, true)
  },
}
