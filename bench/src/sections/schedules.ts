import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { withClient } from '../database.ts'
import { quantile } from '../report/figures.ts'
import { withWorker } from '../worker/with-worker.ts'
import type { WorkerProcess } from '../worker/worker-process.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const COUNT = 100_000
const PER_SECOND = 100
const SETTLE_MS = 2_000
const BATCH = 1_000
/** So many are put at once of those that fire: they are due together. */
const TOGETHER = 10

interface Part {
  readonly bench: Bench
  readonly record: Recorder
  readonly worker: WorkerProcess
  readonly beside: string
}

export const schedulesSection: Section = {
  name: 'schedules',
  about:
    '100,000 schedules: what they cost an idle worker, and how late 100 firings a second are beside them',
  async measure(bench, record) {
    const count = bench.quick ? COUNT / 20 : COUNT
    const beside = `${count.toLocaleString('en')} schedules`
    await eachRound(bench, async (round) => {
      await bench.reference()
      await bench.server.freshDatabase((url) =>
        withWorker({ store: { kind: 'postgres', url }, workload: 'chain', warmUpRuns: 0 }, async (worker) => {
          await worker.tell('work', null)
          const part = { bench, record, worker, beside }
          // Due between one hour from now and some minutes later.
          const idle = { prefix: 'idle', count, every: '1h', batch: BATCH } as const
          const { seconds } = await worker.tell('putSchedules', idle)
          record.add('schedules put with putMany()', { unit: 'schedules/s', value: count / seconds })
          bench.progress(`round ${round}: schedules: ${count} put in ${seconds.toFixed(1)} s`)
          await measureIdling(part)
          await measureFirings(url, part)
        }),
      )
    })
    record.note(
      `Schedules: those that fire do so ${PER_SECOND} times a second, ${TOGETHER} at one instant, each starting a run of three steps in the same worker. “Late” is from the time of the schedule to the transaction that starts its run, by the server's clock.`,
    )
  },
}

async function measureIdling({ bench, record, worker, beside }: Part): Promise<void> {
  const { perSecond, cpuShare } = await usageOver(worker, bench.quick ? 3_000 : 20_000)
  record.add(`an idle worker beside ${beside}`, { unit: 'statements/s', value: perSecond })
  record.add(`an idle worker beside ${beside}: Node CPU, share of one core`, {
    unit: '%',
    value: cpuShare * 100,
  })
  bench.progress(`schedules: idle beside ${beside}: ${perSecond.toFixed(1)} statements/s`)
}

async function measureFirings(url: string, { bench, record, worker, beside }: Part): Promise<void> {
  const seconds = bench.quick ? 5 : 30
  await worker.tell('putSchedules', {
    ...{ prefix: 'firing', count: PER_SECOND * seconds, every: `${seconds}s` },
    ...{ batch: TOGETHER, perSecond: PER_SECOND },
  })
  const { perSecond, cpuShare } = await usageOver(worker, seconds * 1_000)
  const lateMs = await latenessOf(url)
  const where = `${PER_SECOND} firings a second beside ${beside}`
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    record.add(`${where}: late, ${name}`, { unit: 'ms', value: quantile(lateMs, share) })
  }
  record.add(`${where}: the worker`, { unit: 'statements/s', value: perSecond })
  record.add(`${where}: Node CPU, share of one core`, { unit: '%', value: cpuShare * 100 })
  bench.progress(
    `schedules: ${lateMs.length} firings, late by ${quantile(lateMs, 0.5).toFixed(1)} ms (p50), ${quantile(lateMs, 0.99).toFixed(1)} ms (p99)`,
  )
}

async function usageOver(
  worker: WorkerProcess,
  ms: number,
): Promise<{ perSecond: number; cpuShare: number }> {
  await delay(SETTLE_MS)
  const before = await worker.tell('usage', null)
  await delay(ms)
  const after = await worker.tell('usage', null)
  const perSecond = (after.statements - before.statements) / (ms / 1_000)
  return { perSecond, cpuShare: (after.cpuMs - before.cpuMs) / ms }
}

async function latenessOf(url: string): Promise<readonly number[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ late_ms: number }>(
      `select (extract(epoch from decided_at - scheduled_at) * 1000)::float8 as late_ms
      from belay.workflow_firings where cause = 'time' and status = 'started'`,
    )
    if (rows.length === 0) throw new Error('No schedule has fired.')
    return rows.map((row) => row.late_ms)
  })
}
