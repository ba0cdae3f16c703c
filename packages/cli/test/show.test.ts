import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { orders } from './setup/orders.ts'

/** Durations of tests differ: they are shown as one. */
const steady = (text: string) =>
  text.replaceAll(/\d+(\.\d)? s\b/g, '0.1 s').replaceAll(/\d\d:\d\d(:\d\d)?/g, '12:00')

const picture = (text: string) => text.replace(/^\n/, '').replace(/\n *$/, '').replaceAll(/^ {6}/gm, '')

describe('belay show', () => {
  it('shows the steps in lanes, each with its mark and what is to be said about it', async () => {
    const { env, order } = await orders()
    const id = await order('order:9182', {})

    const { stdout, stderr, status } = await belay(['show', 'order:9182', '--utc'], { env, columns: 80 })

    const [title, second, empty, ...lanes] = steady(stdout).trimEnd().split('\n')
    expect(title).toBe('◊ waiting  fulfil-order/order:9182  v3  tenant:7')
    expect(second).toBe(`${id}  created 12:00 UTC, 0.1 s ago`)
    expect(empty).toBe('')
    expect(lanes.join('\n').replace(/\d{4}-\d\d-\d\d/, '2026-12-01')).toBe(
      picture(`
        ●      checkFraud    completed  0.1 s
        »      approveOrder  skipped    its when() was false
        │ ●    reserveStock  completed  0.1 s
        ●─┘    chargeCard    completed  0.1 s
        ●      packItem      completed  0.1 s, 3 of 3 items
        │ ●    route         completed  0.1 s
        ├─┼─»  bookCourier   skipped    "route" chose "post"
        ●─┘ │  printLabel    completed  0.1 s
        ◊───┘  shipped       waiting    until 2026-12-01 12:00 UTC at the latest
      `),
    )
    expect([stderr, status]).toEqual(['', 0])
  })

  it('shows what was undone, first to last, and its lanes if they are asked for', async () => {
    const { env, order } = await orders()
    const id = await order('order:9184', { route: 'express', stranded: true })

    const report = await belay(['show', 'order:9184'], { env, columns: 80 })
    const graph = await belay(['show', `fulfil-order/order:9184`, '--graph', '--ascii'], { env, columns: 80 })

    expect(steady(report.stdout).trimEnd()).toBe(
      picture(`
      □ compensated  fulfil-order/order:9184  v3  tenant:7
      Run ${id} of "fulfil-order" (version 3) failed:
      step "bookCourier" gave up after 1 attempt with PermanentError: no courier
      before 2026-12-01. Undone: 5 of 5.

        UNDONE, FIRST TO LAST    ATTEMPTS  TOOK
        □ packItem      3 items         1  0.1 s
        □ chargeCard                    1  0.1 s
        □ reserveStock                  1  0.1 s
      `),
    )
    expect(report.stderr).toBe('Graph: belay show order:9184 --graph\n')
    expect(steady(graph.stdout).trimEnd().split('\n').slice(3).join('\n')).toBe(
      picture(`
        *      checkFraud    completed    nothing to undo
        ^      approveOrder  skipped
        | u    reserveStock  compensated  0.1 s
        u-+    chargeCard    compensated  0.1 s
        u      packItem      compensated  0.1 s, 3 of 3 items
        | *    route         completed    nothing to undo
        +-+-x  bookCourier   failed       attempt 1; no courier before 2026-12-01
        ^-+ |  printLabel    skipped
        /---+  shipped       cancelled
      `),
    )
  })

  it('names what the undo of a step waits for', async () => {
    const { env, order } = await orders()
    await order('order:9185', { route: 'express', stranded: true, closed: true })

    const { stdout } = await belay(['show', 'order:9185', '--graph'], { env, columns: 80 })

    expect(stdout).toContain('  │ ‹    reserveStock  compensating         after chargeCard\n')
    expect(stdout).toMatch(
      / {2}!─┘ {4}chargeCard {4}compensation_failed {2}\d\.\d s; 503 from payments\.example: r…\n/,
    )
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('gives a pipe tabs, and --plain sentences', async () => {
    const { env, order } = await orders()
    const id = await order('order:9183', { large: true })

    const piped = await belay(['show', id.slice(0, 18)], { env })
    const plain = await belay(['show', 'order:9183', '--plain'], { env, columns: 80 })

    expect(piped.stdout).toContain(
      `id\t${id}\nworkflow\tfulfil-order\nversion\t3\nkey\torder:9183\nstatus\twaiting\n`,
    )
    expect(piped.stdout).toContain('\nchargeCard\tpending\t\n')
    expect(plain.stdout).toContain(`Run ${id} of "fulfil-order" (version 3), key order:9183, is waiting.`)
    expect(plain.stdout).toContain('\nchargeCard: pending.\n')
    expect(plain.stdout).not.toMatch(/[●◊│]/)
  })

  it('gives one document, with payloads only if they are asked for', async () => {
    const { env, order } = await orders()
    const id = await order('order:9182', { route: 'post' })

    const bare = JSON.parse((await belay(['show', id, '--json'], { env })).stdout)
    const whole = JSON.parse((await belay(['show', id, '--json', '--payloads'], { env })).stdout)
    const some = await belay(['show', id, '--json', '--fields', 'status,key'], { env })
    const onScreen = await belay(['show', id, '--payloads'], { env, columns: 80 })

    expect(bare).toMatchObject({
      id,
      status: 'waiting',
      input: '[hidden: --payloads shows it]',
      maps: { packItem: { items: 3 } },
    })
    expect(bare.steps.map((step: { output: unknown }) => step.output)).not.toContain('reserved')
    expect(whole.input).toEqual({ route: 'post' })
    expect(whole.steps).toContainEqual(expect.objectContaining({ name: 'reserveStock', output: 'reserved' }))
    expect(some.stdout).toBe('{"status":"waiting","key":"order:9182"}\n')
    expect(onScreen.stdout).toContain('\n  input: {"route":"post"}\n')
  })

  it('says which run there is not, and which field', async () => {
    const { env, order } = await orders()
    const id = await order('order:9182', {})

    const nothing = await belay(['show', 'order:1'], { env })
    const field = await belay(['show', id, '--fields', 'colour'], { env })
    const missing = await belay(['show'], { env })

    expect([nothing.stderr, nothing.status]).toEqual(['No run has the key "order:1".\n  belay list\n', 1])
    expect(field.stderr).toMatch(/^--fields: there is no "colour" here\. It has id, workflow, /)
    expect(field.status).toBe(2)
    expect([missing.stderr, missing.status]).toEqual(['Run is missing.\n', 2])
  })

  it('puts nothing on a terminal that it would obey', async () => {
    const { env, worker } = await orders()
    await worker.run('fulfil-order', {}, { key: 'order:\u001b[2J', tags: ['\u202etag'] })

    const { stdout } = await belay(['show', 'order:\u001b[2J'], { env, columns: 80 })

    expect(stdout).toContain('fulfil-order/order:\ufffd[2J  v3  \ufffdtag\n')
  })
})

it('a document tells a hidden payload from none, and says of no completed step that it did not succeed', async () => {
  const { env, order } = await orders()
  await order('order:9182', {})

  const { stdout } = await belay(['show', 'order:9182', '--json'], { env })
  const shown = await belay(['show', 'order:9182', '--json', '--payloads'], { env })

  const { input, steps } = JSON.parse(stdout)
  const of = (name: string) => steps.find((step: { name: string }) => step.name === name)
  expect([input, of('reserveStock').output, of('shipped').output]).toEqual([
    '[hidden: --payloads shows it]',
    '[hidden: --payloads shows it]',
    null,
  ])
  expect(steps.filter((step: object) => 'succeeded' in step)).toEqual([])
  expect(JSON.parse(shown.stdout)).toMatchObject({ input: {} })
})
