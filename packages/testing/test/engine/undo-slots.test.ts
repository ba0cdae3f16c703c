import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** A run whose third step fails once `fails` is called, and whose first two have to be undone. The first try of each undo fails. */
function failing(heard: string[]) {
  const tries = { reserve: 0, charge: 0 }
  let fail = () => {}
  const undo = (step: keyof typeof tries) => () => {
    tries[step] += 1
    heard.push(`undo of ${step}, try ${tries[step]}`)
    if (tries[step] === 1) throw new Error('not now')
  }
  const workflow = define('failing', { version: 1 })
    .step('reserve', { run: () => 1, compensate: undo('reserve') })
    .step('charge', { dependsOn: ['reserve'], run: () => 1, compensate: undo('charge') })
    .step('ship', {
      dependsOn: ['charge'],
      retry: false,
      run: () =>
        new Promise((_, reject) => {
          fail = () => reject(new Error('lost'))
        }),
    })
  return { workflow, fail: () => fail() }
}

/** Handlers that end when told to. */
function long(heard: string[]) {
  const ends: (() => void)[] = []
  const workflow = define('long', { version: 1 }).step('work', {
    run: ({ input }) => {
      heard.push(`${input} began`)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
  })
  return { workflow, ends }
}

async function opened(options: { readonly concurrency: number; readonly undoSlots?: number }) {
  const heard: string[] = []
  const { clock, worker } = engines()
  const [failed, held] = [failing(heard), long(heard)]
  const made = await worker({ workflows: [failed.workflow, held.workflow], ...options })
  const run = await made.run(failed.workflow)
  await clock.advance(1_000)
  for (let n = 0; n <= options.concurrency; n += 1) await made.run(held.workflow, `long ${n}`)
  await clock.advance(1_000)
  return { heard, clock, run, fail: failed.fail, ends: held.ends }
}

const ALL_UNDOS = [
  'undo of charge, try 1',
  'undo of charge, try 2',
  'undo of reserve, try 1',
  'undo of reserve, try 2',
]

describe('a rollback while all slots are taken by handlers that do not end', () => {
  it.each([2, 3])(
    'goes on to its end in the slot that only undos take, beside %i others',
    async (concurrency) => {
      const { heard, clock, run, fail, ends } = await opened({ concurrency })
      fail()
      await clock.advance(60_000)

      expect((await run.status()).status).toBe('compensated')
      const begun = Array.from({ length: concurrency }, (_, n) => `long ${n} began`)
      expect(heard.filter((line) => line.startsWith('undo'))).toEqual(ALL_UNDOS)
      expect(heard.filter((line) => line.startsWith('long'))).toEqual(begun)
      expect(ends).toHaveLength(concurrency)
    },
  )

  it('goes on beside the one handler of a worker with one slot only if such a slot was asked for', async () => {
    const { clock, run, fail } = await opened({ concurrency: 1, undoSlots: 1 })
    fail()
    await clock.advance(60_000)

    expect((await run.status()).status).toBe('compensated')
  })

  it.each([
    ['with undoSlots: 0', { concurrency: 1, undoSlots: 0 }],
    ['by default, if no two handlers may run at once', { concurrency: 1 }],
  ])('waits for one of them to end without such a slot: %s', async (_, options) => {
    const { heard, clock, run, fail, ends } = await opened(options)
    fail()
    await clock.advance(60_000)
    const before = [...heard]
    ends[0]!()
    await clock.advance(60_000)

    expect(before).toEqual(['long 0 began'])
    expect(heard).toContain('undo of charge, try 1')
    expect((await run.status()).status).not.toBe('compensated')
  })
})
