import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { noBrowser, startBrowser, visit } from '../../packages/dashboard/test/setup/browser.ts'

/** A thread that holds its lock, and passes on what it is told and what the database answers. */
const CLIENT = `
addEventListener('message', ({ data: { lock, port } }) => {
  port.onmessage = ({ data }) => postMessage(data)
  addEventListener('message', ({ data }) => port.postMessage(data))
  navigator.locks.request(lock, () => {
    postMessage('ready')
    return new Promise(() => {})
  })
}, { once: true })`

interface Client {
  readonly ask: (call: object) => Promise<{ readonly value?: unknown }>
  readonly die: () => void
}

interface Threads {
  readonly client: (name: string) => Promise<Client>
  /** What the database tells of a client that is gone. */
  readonly gone: (name: string) => Promise<{ readonly rolledBack: boolean }>
}

const WRITE = `insert into shop.ledger (key, service, what, amount, "order", worker) values ($1, 'card', 'charge', 1, 'order', 'two')`
const COUNT = 'select count(*)::int as count from shop.ledger'

describe.skipIf(noBrowser)(`clients of the database${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it('the transaction of a thread that was terminated is rolled back, and the next one begins', async () => {
    const page = await withThreads(browser)
    const seen = await page.evaluate(
      async ({ WRITE, COUNT }) => {
        const { client, gone } = (globalThis as unknown as { threads: Threads }).threads
        const [one, two] = await Promise.all([client('one'), client('two')])
        const { value: within } = await two.ask({ call: 'begin' })
        await two.ask({ call: 'query', text: WRITE, values: ['key'], within })
        const waiting = one.ask({ call: 'begin' })
        const noticed = gone('two')
        two.die()
        const { rolledBack } = await noticed
        const { value: next } = await waiting
        const { value: count } = await one.ask({ call: 'query', text: COUNT, within: next })
        return { rolledBack, count, committed: await one.ask({ call: 'commit', within: next }) }
      },
      { WRITE, COUNT },
    )
    expect(seen).toMatchObject({ rolledBack: true, count: { rows: [{ count: 0 }] } })
    expect(seen.committed).not.toHaveProperty('problem')
  })

  it('what a thread had asked for before it was terminated, and what waited for its turn, blocks nobody', async () => {
    const page = await withThreads(browser)
    const seen = await page.evaluate(
      async ({ WRITE, COUNT }) => {
        const { client, gone } = (globalThis as unknown as { threads: Threads }).threads
        const [one, two, three] = await Promise.all([client('one'), client('two'), client('three')])
        const { value: within } = await one.ask({ call: 'begin' })
        void two.ask({ call: 'begin' })
        void three.ask({ call: 'query', text: WRITE, values: ['key'] })
        // Answered by the thread of the database after it has got the others' calls.
        for (let n = 0; n < 10; n += 1) await one.ask({ call: 'query', text: COUNT, within })
        const noticed = Promise.all([gone('two'), gone('three')])
        two.die()
        three.die()
        const [{ rolledBack }] = await noticed
        await one.ask({ call: 'commit', within })
        const { value: next } = await one.ask({ call: 'begin' })
        const { value: count } = await one.ask({ call: 'query', text: COUNT, within: next })
        return { rolledBack, count, committed: await one.ask({ call: 'commit', within: next }) }
      },
      { WRITE, COUNT },
    )
    // A statement that PostgreSQL has got is executed, whether its client lives or not; a transaction of it does not begin.
    expect(seen).toMatchObject({ rolledBack: false, count: { rows: [{ count: 1 }] } })
    expect(seen.committed).not.toHaveProperty('problem')
  })
})

/** A page of the playground's origin, with `threads`: the real database's thread, in memory, and threads that are its clients. */
async function withThreads(browser: Browser): Promise<Page> {
  const { page } = await visit(browser, `${inject('playground')}page.css`)
  await page.route('**/client.js', (route) =>
    route.fulfill({ contentType: 'text/javascript; charset=utf-8', body: CLIENT }),
  )
  await page.evaluate(async () => {
    const database = new Worker('database.js', { type: 'module' })
    const told = <Told extends { readonly type: string }>(which: (message: Told) => boolean) =>
      new Promise<Told>((heard) => {
        database.addEventListener('message', ({ data }) => which(data) && heard(data))
      })
    const opened = told(({ type }) => type === 'opened')
    database.postMessage({ type: 'open', fresh: false, inMemory: true })
    await opened

    let calls = 0
    const client = async (name: string): Promise<Client> => {
      const { port1, port2 } = new MessageChannel()
      const thread = new Worker('client.js')
      const heard = <Message>(which: (message: Message) => boolean) =>
        new Promise<Message>((answer) => {
          thread.addEventListener('message', ({ data }) => which(data) && answer(data))
        })
      const ready = heard((message) => message === 'ready')
      database.postMessage({ type: 'client', name, lock: name, port: port1 }, [port1])
      thread.postMessage({ lock: name, port: port2 }, [port2])
      await ready
      const ask = (call: object) => {
        const id = ++calls
        thread.postMessage({ ...call, id })
        return heard<{ readonly id: number; readonly value?: unknown }>((answer) => answer.id === id)
      }
      return { ask, die: () => thread.terminate() }
    }
    const gone = (name: string) =>
      told<{ type: string; name: string; rolledBack: boolean }>(
        (message) => message.type === 'client_gone' && message.name === name,
      )
    Object.assign(globalThis, { threads: { client, gone } })
  })
  return page
}
