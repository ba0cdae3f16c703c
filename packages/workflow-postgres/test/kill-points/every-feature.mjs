// A workflow that uses every feature, and the application that starts it, in plain JavaScript: the killed worker runs it from the compiled packages,
// the finishing worker from their sources.
import { define, PermanentError } from '@belay/workflow'
import { PATIENT } from './patient.mjs'

/** `calls` has a row for each call of a handler, `effects` one for each key, like a payment provider. One sequence numbers all rows. */
export const TABLES = `
create sequence moments;
create table calls (moment int default nextval('moments'), key text not null);
create table effects (moment int default nextval('moments'), key text primary key);
create table ledger (moment int default nextval('moments'), key text not null);
create table tries (key text primary key)`

/** A workflow with a unique name, so that only workers that know it take its steps. */
export function everyFeature(name, pool) {
  const note = (table, key) =>
    pool.query(`insert into ${table} (key) values ($1) on conflict do nothing`, [key])
  // Only two steps tell something: their calls to publish are killed like any other.
  const effect = async ({ step, idempotencyKey, publish, progress }) => {
    await note('calls', idempotencyKey)
    await note('effects', idempotencyKey)
    if (step === 'reserve' || step === 'ship') await publish(step, idempotencyKey.split(':').slice(1))
    if (step === 'reserve') await progress(1, 1)
    return { by: step }
  }
  const isFirst = async (key) => (await note('tries', key)).rowCount === 1
  const effective = { run: effect, compensate: effect }

  const gift = define(`${name}-gift`, { version: 1, ...PATIENT })
    .step('wrap', effective)
    .step('label', { ...effective, dependsOn: ['wrap'] })
  const card = define(`${name}-card`, { version: 1, ...PATIENT }).step('sign', effective)

  return define(name, { version: 1, ...PATIENT })
    .step('reserve', effective)
    .step('audit', { run: effect })
    .map('pack', {
      ...effective,
      dependsOn: ['reserve', 'audit'],
      over: () => ['a', 'b', 'c'],
      concurrency: 2,
    })
    .repeat('label', { ...effective, dependsOn: ['audit'], until: ({ round }) => round === 3 })
    .step('post', { ...transactional, dependsOn: ['pack', 'label'], compensate: transactional })
    .step('flaky', {
      ...effective,
      dependsOn: ['post'],
      async run(context) {
        if (await isFirst(context.idempotencyKey)) throw new Error('Not at the first try.')
        return effect(context)
      },
    })
    .step('slow', {
      ...effective,
      dependsOn: ['post'],
      compensateOn: 'started',
      heartbeatTimeout: '200ms',
      async run(context) {
        const { idempotencyKey, lastHeartbeat, heartbeat, signal } = context
        // A killed worker may take the details with it.
        if (lastHeartbeat !== undefined && lastHeartbeat !== idempotencyKey)
          throw new PermanentError(`The heartbeat of another attempt: ${lastHeartbeat}`)
        await heartbeat(idempotencyKey)
        if (await isFirst(idempotencyKey)) await aborted(signal)
        return effect(context)
      },
    })
    .step('insure', {
      dependsOn: ['post'],
      onFailure: 'continue',
      retry: { attempts: 1 },
      timeout: '100ms',
      async run({ idempotencyKey, signal }) {
        await note('calls', idempotencyKey)
        await aborted(signal)
      },
    })
    .step('vouch', { ...effective, when: { insure: 'failed' } })
    .sleep('coolOff', { dependsOn: ['flaky', 'slow', 'vouch'], for: '30ms' })
    .waitForSignal('paid', { dependsOn: ['coolOff'] })
    .approval('approved', { dependsOn: ['coolOff'] })
    .poll('arrived', {
      dependsOn: ['paid', 'approved'],
      every: '30ms',
      until: async ({ idempotencyKey }) => ((await isFirst(idempotencyKey)) ? null : 'arrived'),
    })
    .step('book', { ...transactional, dependsOn: ['arrived'], compensate: transactional })
    .workflow('gift', gift, { dependsOn: ['book'] })
    .repeat('cards', card, { dependsOn: ['gift'], until: ({ round }) => round === 2 })
    .step('ship', {
      ...effective,
      dependsOn: ['cards'],
      compensateOn: 'started',
      async run(context) {
        const output = await effect(context)
        if (context.input.fails) throw new PermanentError('The parcel is lost.')
        return output
      },
    })
    .step('seal', { ...effective, dependsOn: ['ship'], pivot: true })
    .step('thank', { dependsOn: ['seal'], run: effect })
    .onCompleted('receipt', { run: effect })
    .onCompensated('regret', { run: effect })
}

const transactional = {
  transaction: true,
  async run({ tx, step, idempotencyKey, publish }) {
    await publish(step, true)
    await tx.client.query('insert into ledger (key) values ($1)', [idempotencyKey])
    return { by: step }
  },
}

/** A small workflow, of which many runs are started at once. */
export function entries(name) {
  return define(`${name}-entry`, { version: 1, ...PATIENT }).step('enter', transactional)
}

/** What the application does: everything under keys, so that it can do all of it again. */
export async function apply(engine, { workflow, entry, fails }) {
  const run = await engine.run(workflow, { fails }, { key: 'order' })
  await run.approve('approved', { by: 'Ada', key: 'decision' })
  const entered = await engine.runMany(
    entry,
    [1, 2].map((number) => ({ input: number, key: `${number}` })),
  )
  await run.signal('paid', { sum: 7 }, { key: 'webhook' })
  return [run, ...entered]
}

function aborted(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** The killed worker's part: its workflows, and its work until everything has ended. */
export function application(name, pool, { fails }) {
  const [workflow, entry] = [everyFeature(name, pool), entries(name)]
  return {
    workflows: [workflow, entry],
    async work(engine) {
      const followed = new Promise((resolve) => {
        engine.on('run.completed', ({ workflow: ended }) => ended === `${name}/ended` && resolve())
      })
      await engine.start()
      const runs = await apply(engine, { workflow, entry, fails })
      await Promise.allSettled(runs.map((run) => run.result()))
      await followed
    },
  }
}
