import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 })
  .step('charge', { concurrency: { name: 'payments', limit: 20 }, run: () => 1 })
  .step('tell', { rateLimit: { name: 'partner', limit: 100, per: '1s' }, run: () => 1 })

async function working() {
  const store = await testStore()
  const worker = store.engine({ workflows: [order], name: 'orders', concurrency: 50 })
  await worker.start()
  return { ...store, worker }
}

describe('belay workers', () => {
  it('shows each worker with its slots and workflows', async () => {
    const { env } = await working()

    const { stdout, status } = await belay(['workers'], { env, columns: 80 })

    const [titles, line] = stdout.split('\n')
    expect(titles).toMatch(/^STATUS +NAME +HOST +BUSY +RENEWED +WORKFLOWS$/)
    expect(line).toMatch(/^● live +orders +\S+ +0 of 50 +\d+ s ago +fulfil-order v3$/)
    expect(status).toBe(0)
  })

  it('gives scripts the names of the API', async () => {
    const { env } = await working()

    const { stdout } = await belay(['workers', '--json', '--fields', 'name,slots,workflows'], { env })

    expect(JSON.parse(stdout)).toEqual({
      workers: [{ name: 'orders', slots: 50, workflows: [{ name: 'fulfil-order', version: 3 }] }],
    })
  })

  it('says that there are none', async () => {
    const { env } = await testStore()

    const { stdout, stderr } = await belay(['workers'], { env, columns: 80 })

    expect([stdout, stderr]).toEqual(['', 'No worker is registered: steps wait until one starts.\n'])
  })
})

describe('belay limits', () => {
  it('shows what they allow, and what is closed', async () => {
    const { env, worker } = await working()
    await worker.limits.set('payments', 0)

    const { stdout } = await belay(['limits'], { env, columns: 80 })

    expect(stdout).toBe(
      [
        'NAME      ALLOWS                IN USE  WAITING',
        'partner   100 per 1 s, burst 1       0        0',
        'payments  0 slots (code: 20)         0        0  ! closed',
        '',
      ].join('\n'),
    )
  })

  it('sets and resets slots and rates', async () => {
    const { env, worker } = await working()
    const say = async (...argv: string[]) => (await belay(['limits', ...argv], { env, columns: 80 })).stdout

    expect(await say('set', 'payments', '--slots', '0')).toBe('payments: 20 slots → 0 slots (code: 20)\n')
    expect(await say('set', 'partner', '--rate', '50/1m', '--ascii')).toBe(
      'partner: 100 per 1 s, burst 1 -> 50 per 1 min, burst 1 (code: 100 per 1 s, burst 1)\n',
    )
    expect((await worker.limits.get('payments'))?.set).toBe(0)
    expect(await say('reset', 'payments')).toBe('payments: 0 slots (code: 20) → 20 slots\n')
    expect(JSON.parse(await say('reset', 'partner', '--json'))).toMatchObject({
      name: 'partner',
      rateLimit: { limit: 100, perMs: 1_000, burst: 1 },
      set: null,
    })
  })

  it('refuses a name that nobody declared, with the nearest one', async () => {
    const { env } = await working()

    const { stderr, status } = await belay(['limits', 'set', 'paymnts', '--slots', '1'], { env })

    expect(stderr).toMatch(/^No worker has declared a limit "paymnts"\. Did you mean "payments"\?/)
    expect(status).toBe(2)
  })

  it('refuses neither, both, and no rate', async () => {
    const none = await belay(['limits', 'set', 'payments'])
    const both = await belay(['limits', 'set', 'payments', '--slots', '1', '--rate', '1/1s'])
    const wrong = await belay(['limits', 'set', 'payments', '--rate', 'fast'])

    expect(none.stderr).toBe('Give either --slots or --rate.\n  belay limits set payments --slots 20\n')
    expect(wrong.stderr).toBe('--rate takes a number and a time, like 100/1s, got "fast".\n')
    expect([none.status, both.status, wrong.status]).toEqual([2, 2, 2])
  })
})
