import { define, defineGraph } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const one = define('order', { version: 1 }).step('pack', { run: () => 'packed by 1' })
const two = define('order', { version: 2 })
  .step('pack', { run: () => 'packed by 2' })
  .step('ship', { dependsOn: ['pack'], run: () => 'shipped' })

describe('versions over the life of a workflow', () => {
  it('a deploy brings a new version, the old one ends with its runs, and the doctor says when', async () => {
    const { clock, worker, engine } = engines()
    const observer = engine()
    const waiting = async () =>
      (await observer.doctor()).findings.map((finding) =>
        finding.type === 'version_without_worker' ? `${finding.version}: ${finding.runs}` : finding.type,
      )

    const before = await observer.run(one)
    // The first deploy of version 2 forgot version 1.
    const forgetful = await worker({ workflows: [two] })
    const after = await forgetful.run(two)
    const shipped = await clock.runUntil(after.result())
    const forgotten = await waiting()
    // The next deploy has both, until no runs of version 1 are left.
    const both = await worker({ workflows: [one, two] })
    const packed = await clock.runUntil(before.result())
    await clock.runUntil(both.stop())

    expect(shipped).toEqual({ pack: 'packed by 2', ship: 'shipped' })
    expect(forgotten).toEqual(['1: 1'])
    expect(packed).toEqual({ pack: 'packed by 1' })
    expect(await waiting()).toEqual([])
  })

  it('a process that only starts runs needs no handlers, and runs nothing', async () => {
    const { clock, worker, engine } = engines()
    const graph = { steps: { pack: { handler: 'pack' }, ship: { handler: 'ship' } }, dag: { ship: ['pack'] } }
    const named = defineGraph('parcel', { version: 1, ...graph })
    const runnable = defineGraph('parcel', { version: 1, ...graph }, { pack: () => 1, ship: () => 2 })
    const trigger = await worker({ workflows: [named] })
    const run = await trigger.run(named)
    await clock.advance('1m')

    const untouched = statuses(await run.status())
    const registered = (await engine().workers.list()).map(({ workflows }) => workflows)
    await worker({ workflows: [runnable] })

    expect(untouched).toEqual({ pack: 'ready', ship: 'pending' })
    expect(registered).toEqual([[]])
    expect(await clock.runUntil(run.result())).toEqual({ pack: 1, ship: 2 })
  })

  it('the undo of a run waits for a worker that has its version', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    const reversible = (version: number) =>
      define('trip', { version })
        .step('book', { run: () => 1, compensate: () => void undone.push(`book by ${version}`) })
        .step('fly', { dependsOn: ['book'], retry: { attempts: 2, initial: '1h' }, run: () => fail() })
    const fail = () => {
      throw new Error('storm')
    }
    const first = await worker({ workflows: [reversible(1)] })
    const run = await first.run(reversible(1))
    await clock.advance('1s')
    await clock.runUntil(first.stop())
    const newer = await worker({ workflows: [reversible(2)] })
    await newer.runs.handle(run.id).cancel()
    await clock.advance('1m')

    const meanwhile = (await run.status()).status
    const findings = (await newer.doctor()).findings
    await worker({ workflows: [reversible(1)] })
    await clock.runUntil(
      newer.runs
        .handle(run.id)
        .result()
        .catch(() => {}),
    )

    expect(meanwhile).toBe('compensating')
    expect(findings).toMatchObject([{ type: 'version_without_worker', version: 1 }])
    expect(undone).toEqual(['book by 1'])
    expect((await run.status()).status).toBe('cancelled')
  })
})
