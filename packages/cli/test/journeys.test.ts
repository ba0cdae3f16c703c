import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { terminal } from './setup/pty.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 }).step('charge', { run: () => 1 })

describe('in a terminal', () => {
  it('a list fits 80 columns and leaves the terminal as it was', async () => {
    const store = await testStore()
    await store.engine().run(order, undefined, { key: 'order:1' })

    const shell = terminal(['list'], { env: store.env })

    expect(await shell.exit).toBe(0)
    expect(shell.screen()).toMatch(/^STATUS +RUN +KEY +WORKFLOW +CREATED\n► running/)
    expect(shell.showsCursor()).toBe(true)
  })
})
