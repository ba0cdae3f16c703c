import type { Identity, Store } from '@belay/workflow/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OpenedStore } from '../../../testing/src/conformance/store/harness.ts'
import {
  completed,
  ended,
  LEASE_MS,
  mailFor,
  member,
  newId,
  StoreScenario,
} from '../../../testing/src/conformance/store/scenario.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { postgresHarness } from './harness.ts'

// Where two statements meet, both orders: one of them is stopped in its middle, by a trigger for its rows or in an open transaction.
describe.each(servers)('meetings in the store on $name', ({ url }) => {
  let database: TestDatabase
  let opened: OpenedStore & { readonly schema: string }
  let store: Store
  let given: StoreScenario
  let worker: Identity
  let id: string
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    opened = (await postgresHarness(() => database).open()) as typeof opened
    store = opened.store
    given = new StoreScenario(opened)
    await given.define()
    worker = await given.worker()
    id = (await given.start({}, { owner: worker })).id
    return () => opened.close()
  })

  const end = () => store.commit(worker, [member({ run: id, fence: 1, turned: completed(), after: 'ends' })])
  const release = () =>
    store.commit(worker, [member({ run: id, fence: 1, after: { due: Number.POSITIVE_INFINITY, lead: 0 } })])

  /** Statements that write this table stop there until they are let go. */
  async function stopped<Answer>(table: string, act: () => Promise<Answer>) {
    const { schema } = opened
    await database.pool.query(`
create table ${schema}.stops (is_open boolean);
create function ${schema}.stop() returns trigger language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('${schema}'));
  while not exists (select from ${schema}.stops) loop perform pg_sleep(0.01); end loop;
  return new;
end $$;
create trigger stop before insert or update on ${schema}.workflow_${table} for each row execute function ${schema}.stop();`)
    const answer = act()
    answer.catch(() => {})
    await arrived(1)
    return {
      async letGo(): Promise<Answer> {
        await database.pool.query(`insert into ${schema}.stops values (true)`)
        return answer
      },
    }
  }

  /** So many statements stand where they are stopped, with the locks that they have by then. */
  async function arrived(count: number): Promise<void> {
    const { schema } = opened
    const standing = async () => {
      const { rows } = await database.pool.query(
        `select from pg_locks where locktype = 'advisory' and objid = (hashtext('${schema}')::bigint & 4294967295)::oid`,
      )
      return rows.length
    }
    await expect.poll(standing, { timeout: 30_000 }).toBe(count)
  }

  /** A caller’s transaction that stays open until it is told how to end. */
  async function openTransaction<Answer>(act: (tx: unknown) => Promise<Answer>) {
    const client = await database.pool.connect()
    await client.query('begin')
    const answer = await act(client)
    return {
      answer,
      async end(how: 'commit' | 'rollback') {
        await client.query(how)
        client.release()
      },
    }
  }

  it('a worker that is committing is not declared dead', async () => {
    const commit = await stopped('steps', () =>
      store.commit(worker, [member({ run: id, fence: 1, ends: [ended(1)] })]),
    )
    await given.advance(LEASE_MS + 1)

    const swept = await store.sweep()

    expect(swept).toMatchObject({ dead: [], runs: 0 })
    expect(await commit.letGo()).toMatchObject({ result: 'committed' })
    expect(await store.sweep()).toMatchObject({ runs: 1 })
    expect(await end()).toEqual({ result: 'behind' })
  })

  it('a raised epoch waits for the commit under way, and shuts out a later one', async () => {
    const commit = await stopped('steps', () =>
      store.commit(worker, [member({ run: id, fence: 1, ends: [ended(1)] })]),
    )
    let raised: number | null | undefined
    const bump = store.bump(worker.worker).then((epoch) => (raised = epoch))
    await store.peek([id])

    const before = raised
    const committed = await commit.letGo()
    await bump

    expect([before, committed.result, raised]).toEqual([undefined, 'committed', 2])
    expect((await given.step(id, 1)).status).toBe('completed')
    expect(await end()).toEqual({ result: 'behind' })
  })

  it('claims pass over what another claim is taking', async () => {
    const runs = [await given.start(), await given.start()]
    const [other, operator] = [await given.worker(), await given.worker(0)]
    const first = await stopped('live', () => given.claim(worker, { max: 1 }))

    const taken = await store.take(operator, [runs[0]!.id])
    const second = given.claim(other)
    await arrived(2)
    const claimed = await first.letGo()

    expect(taken).toEqual([])
    expect(claimed.map((run) => run.id)).toEqual([runs[0]!.id])
    expect((await second).map((run) => run.id)).toEqual([runs[1]!.id])
  })

  it('mail whose transaction outlives a release is found', async () => {
    const sending = await openTransaction((tx) => store.send([mailFor(id, 'a')], { tx }))
    await release()
    const before = await given.claim(worker, { mailed: { after: null } })
    await sending.end('commit')

    const hinted = await given.claim(worker, { mailed: 'hinted' })
    const [run] = await given.claim(worker, { mailed: { after: null } })

    expect([before, hinted]).toEqual([[], []])
    expect(run?.mail.map(({ key }) => key)).toEqual(['a'])
  })

  it('mail whose transaction outlives its run is answered, or reopens it', async () => {
    const sending = await openTransaction((tx) =>
      store.send([mailFor(id, 'late'), mailFor(id, 'undo', { reopens: true })], { tx }),
    )
    await end()
    await sending.end('commit')

    await store.sweep()

    const [late] = sending.answer
    const answers = late?.result === 'sent' ? await store.answers([late.sequence]) : new Map()
    const [run] = await given.claim(worker)
    // What reopens it takes the other with it.
    expect([[...answers.values()], run?.mail.map(({ key }) => key)]).toEqual([['"too late"'], ['undo']])
  })

  it.each(['commit', 'rollback'] as const)('a key waits for the transaction that has it: %s', async (how) => {
    const own = newId()
    const starting = await openTransaction((tx) => given.start({ id: own, key: 'k' }, { tx }))
    const waiting = given.start({ key: 'k' })
    await starting.end(how)

    const { created, id: found } = await waiting

    expect([created, found === own]).toEqual(how === 'commit' ? [false, true] : [true, false])
  })

  it('an outcome and its tombstone: what commits first stands', async () => {
    const bury = (key: string) => store.commit(worker, [member({ run: id, fence: 1, tombstones: [key] })])
    const outcome = await openTransaction((tx) => store.within(tx, mailFor(id, 'within:1:1')))

    const beside: unknown = await bury('within:1:1').catch((error: unknown) => error)
    await outcome.end('commit')
    const behind: unknown = await bury('within:1:1').catch((error: unknown) => error)
    const other = await openTransaction((tx) => store.within(tx, mailFor(id, 'within:1:2')))
    await other.end('rollback')
    const buried = await bury('within:1:2')

    expect(outcome.answer).toBe(true)
    expect([store.refusalOf(beside), store.refusalOf(behind)]).toEqual(['other', 'other'])
    expect(buried).toMatchObject({ result: 'committed' })
  })

  it('a run does not end beside an outcome of it, and a member alone waits half a second', async () => {
    const outcome = await openTransaction((tx) => store.within(tx, mailFor(id, 'within:1:1')))

    const early: unknown = await end().catch((error: unknown) => error)
    await outcome.end('rollback')

    expect(store.refusalOf(early)).toBe('other')
    expect(await end()).toMatchObject({ result: 'committed' })
  })

  it('of two that reopen a run at once one has it', async () => {
    await end()
    const operators = [await given.worker(0), await given.worker(0)]

    const taken = await Promise.all(operators.map((operator) => store.take(operator, [id])))

    expect(taken.flat().map(({ fence }) => fence)).toEqual([2])
  })

  it('a transaction that stays open with a start and mail holds up nobody', async () => {
    const other = await given.start()
    const sending = await openTransaction(async (tx) => {
      await given.start({ key: 'mine' }, { tx })
      return store.send([mailFor(id, 'a'), mailFor(other.id, 'a')], { tx })
    })

    expect((await given.claim(worker)).map((run) => run.id)).toEqual([other.id])
    expect(await store.sweep()).toMatchObject({ dead: [] })
    expect(await store.bump(worker.worker)).toBe(2)
    worker = { ...worker, epoch: 2 }
    expect(await end()).toMatchObject({ result: 'committed' })
    await sending.end('rollback')
  })
})
