import { expect, it, vi } from 'vitest'
import { showDashboard } from '../src/dashboard/show-dashboard.ts'

interface Listed {
  readonly runs: readonly { readonly key?: string; readonly status: string }[]
}

it('npm start -- dashboard shows a rollback, a parked one and an approval within a minute', async () => {
  const end = new AbortController()
  let line = ''
  const ended = showDashboard((printed) => {
    line = printed
  }, end.signal)
  const address = await vi.waitUntil(() => /http:\/\/\S+/.exec(line)?.[0], { timeout: 60_000 })

  const statuses = async () => {
    const { runs } = (await (await fetch(`${address}api/runs?workflow=fulfil-order`)).json()) as Listed
    return Object.fromEntries(runs.map(({ key, status }) => [key, status]))
  }

  await vi.waitFor(
    async () =>
      expect(await statuses()).toMatchObject({
        'order:9181': 'compensated',
        'order:9182': 'compensation_failed',
        'order:9183': 'waiting',
      }),
    { timeout: 60_000, interval: 500 },
  )
  end.abort()
  await ended
})
