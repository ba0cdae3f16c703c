import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { withClient } from '../database.ts'
import { drain } from '../drain.ts'
import { quantile } from '../report/figures.ts'
import { gapsOf, type Turn } from '../worker/turns.ts'
import { withWorker } from '../worker/with-worker.ts'
import { runsOf, WORKLOADS, type WorkloadName } from '../workloads.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const LIMITED: readonly WorkloadName[] = ['chain', 'limitedChain', 'keyedChain', 'ratedChain']
const IN_LINE = 100_000
const PARKED_WITHIN_MS = 300_000

interface Round {
  readonly bench: Bench
  readonly record: Recorder
  readonly round: number
}

export const limitsSection: Section = {
  name: 'limits',
  about:
    'chains with a limit on each step beside one without; how soon a freed slot is taken; what 100,000 waiters cost',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      for (const workload of LIMITED) {
        await record.attempt(WORKLOADS[workload].name, () => drainOnce(workload, { bench, record, round }))
      }
      for (const workers of [1, 2]) {
        await record.attempt('turns', () => takeTurns(workers, { bench, record, round }))
      }
      await record.attempt('a long line', () => waitInLine({ bench, record, round }))
    })
    record.note(
      'Limits: “turns” are 500 runs of one step that takes 3 ms, one at a time over all processes; the gap is from the end of one handler to the beginning of the next. “In line”: one run holds the only slot, and all others wait for it.',
    )
  },
}

async function drainOnce(workload: WorkloadName, { bench, record, round }: Round): Promise<void> {
  const runs = runsOf(workload, bench)
  const reference = await bench.reference()
  const { stepsPerSecond } = await bench.server.freshDatabase((url) =>
    drain({
      ...{ store: { kind: 'postgres', url }, workload, runs },
      warmUpRuns: bench.quick ? 0 : Math.ceil(runs / 5),
    }),
  )
  const { name } = WORKLOADS[workload]
  record.add(`${name}, beside limits`, { unit: 'steps/s', value: stepsPerSecond, reference })
  bench.progress(`round ${round}: limits: ${name}: ${Math.round(stepsPerSecond)} steps/s`)
}

async function takeTurns(workers: number, { bench, record, round }: Round): Promise<void> {
  const turns: Turn[] = []
  await bench.server.freshDatabase((url) =>
    drain(
      {
        ...{ store: { kind: 'postgres', url }, workload: 'turns', runs: runsOf('turns', bench) },
        ...{ workers, warmUpRuns: 0 },
      },
      {
        async drained(processes) {
          for (const worker of processes) turns.push(...(await worker.tell('turns', null)))
        },
      },
    ),
  )
  const gaps = gapsOf(turns)
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    record.add(`a freed slot is taken, ${workers} worker${workers === 1 ? '' : 's'}, ${name}`, {
      unit: 'ms',
      value: quantile(gaps, share),
    })
  }
  bench.progress(`round ${round}: limits: a freed slot is taken after ${quantile(gaps, 0.5).toFixed(1)} ms`)
}

async function waitInLine({ bench, record, round }: Round): Promise<void> {
  const count = bench.quick ? IN_LINE / 100 : IN_LINE
  const ms = bench.quick ? 3_000 : 20_000
  await bench.server.freshDatabase((url) =>
    withWorker({ store: { kind: 'postgres', url }, workload: 'line', warmUpRuns: 0 }, async (worker) => {
      await worker.tell('work', null)
      const since = performance.now()
      await worker.tell('startRuns', { count: count + 1, by: 'bulk' })
      await untilInLine(url, count)
      const parked = ((performance.now() - since) / 1_000).toFixed(1)
      const before = await worker.tell('usage', null)
      await delay(ms)
      const after = await worker.tell('usage', null)
      const perSecond = (after.statements - before.statements) / (ms / 1_000)
      const line = `${count.toLocaleString('en')} in line`
      record.add(`an idle worker, ${line}`, { unit: 'statements/s', value: perSecond })
      record.add(`an idle worker, ${line}: Node CPU, share of one core`, {
        unit: '%',
        value: ((after.cpuMs - before.cpuMs) / ms) * 100,
      })
      bench.progress(
        `round ${round}: limits: ${line} after ${parked} s, then ${perSecond.toFixed(1)} statements/s`,
      )
    }),
  )
}

async function untilInLine(url: string, count: number): Promise<void> {
  await withClient(url, async (client) => {
    const until = performance.now() + PARKED_WITHIN_MS
    let waiting = 0
    while (performance.now() < until) {
      const { rows } = await client.query<{ waiting: number }>(
        'select count(*)::int as waiting from belay.workflow_limit_waiters',
      )
      waiting = rows[0]!.waiting
      if (waiting >= count) return
      await delay(200)
    }
    throw new Error(`${waiting} of ${count} runs wait in line after ${PARKED_WITHIN_MS / 1_000} s.`)
  })
}
