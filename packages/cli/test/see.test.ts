import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { define } from '@belay/workflow'
import { describe, expect, it, onTestFinished } from 'vitest'
import { belay } from './setup/belay.ts'
import { fulfilOrder, orders } from './setup/orders.ts'
import { testStore } from './setup/store.ts'

describe('belay graph', () => {
  it('draws the steps with their kinds and marks', async () => {
    const { env } = await orders()

    const { stdout } = await belay(['graph', 'fulfil-order'], { env, columns: 80 })

    expect(stdout).toBe(`fulfil-order  v3

  ○      checkFraud    step
  ○      approveOrder  approval  when()
  │ ○    reserveStock  step      undo
  ○─┘    chargeCard    step      undo
  ○      packItem      map       undo
  │ ○    route         choice    express, post
  ├─┼─○  bookCourier   step      undo, if express
  ○─┘ │  printLabel    step      if post
  ○───┘  shipped       signal
`)
  })

  it('adds what only the code knows, if the config has this version', async () => {
    const { env } = await orders()
    const cwd = await mkdtemp(join(tmpdir(), 'belay-'))
    onTestFinished(() => rm(cwd, { recursive: true }))
    // A file in that folder finds no packages: it gets the definition from this process.
    Object.assign(globalThis, { belayTestWorkflows: [fulfilOrder] })
    await writeFile(
      join(cwd, 'belay.config.mjs'),
      'export default { workflows: globalThis.belayTestWorkflows }\n',
    )

    const { stdout, stderr } = await belay(['graph', 'fulfil-order'], { env, cwd, columns: 80 })

    expect(stderr).toBe('')
    expect(stdout).toContain('  ○      approveOrder  approval  when(), 2 d\n')
    expect(stdout).toMatch(/○─┘ {4}chargeCard {4}step {6}undo, \d+ attempts\n/)
    expect(stdout).toMatch(/○ {6}packItem {6}map {7}undo, \d+ attempts, 20 at once\n/)
    expect(stdout).toContain('  ○───┘  shipped       signal    7 d\n')
  })

  it('has a column of what each step is after, where lanes would be too many', async () => {
    const store = await testStore()
    const names = Array.from({ length: 9 }, (_, n) => `part${n}`)
    const first = define('wide', { version: 1 }).step('begin', { run: () => 1 })
    const parts = names.reduce(
      (graph, name) => graph.step(name, { dependsOn: ['begin'], run: () => 1 }) as unknown as typeof first,
      first,
    )
    const wide = parts.step('end', { dependsOn: names as unknown as ['begin'], run: () => 1 })
    await store.engine().run(wide, undefined)

    const { stdout } = await belay(['graph', 'wide'], { env: store.env, columns: 80 })

    expect(stdout).toContain('\n  ○  begin  step\n')
    expect(stdout).toContain('\n  ○  part0  step  after begin\n')
    expect(stdout).toContain('\n  ○  end    step  after part0, part1 +7\n')
  })

  it('writes Mermaid, dot, JSON, tabs and sentences', async () => {
    const { env } = await orders()
    const graph = async (...flags: string[]) =>
      (await belay(['graph', 'fulfil-order', ...flags], { env })).stdout

    expect(await graph('--mermaid')).toMatch(/^---\ntitle: "fulfil-order v3"\n---\nflowchart TD\n/)
    expect(await graph('--dot')).toMatch(
      /^digraph "fulfil-order v3" \{\n(.*\n)* {2}"chargeCard" -> "packItem"\n(.*\n)*\}\n$/,
    )
    expect(JSON.parse(await graph('--json'))).toMatchObject({ name: 'fulfil-order', version: 3 })
    expect(await graph()).toContain('\nchargeCard\tstep\tapproveOrder,reserveStock\tundo\n')
    expect(await graph('--plain')).toContain(
      '\nchargeCard: step, after approveOrder and reserveStock, undo.\n',
    )
  })

  it('says which versions there are, and refuses two formats', async () => {
    const { env } = await orders()

    const version = await belay(['graph', 'fulfil-order', '--version', '9'], { env })
    const name = await belay(['graph', 'fulfill-order'], { env })
    const formats = await belay(['graph', 'fulfil-order', '--mermaid', '--dot'], { env })

    expect(version.stderr).toContain('Version 9 of workflow "fulfil-order" is not stored.')
    expect([version.status, name.status, formats.status]).toEqual([1, 1, 2])
    expect(name.stderr).toContain('Did you mean "fulfil-order"?')
  })
})

describe('belay approvals', () => {
  it('lists the decisions that are open, and the command for the first', async () => {
    const { env, order } = await orders()
    const id = await order('order:9183', { large: true })
    await order('order:9182', {})

    const shown = await belay(['approvals'], { env, columns: 80 })
    const json = await belay(
      ['approvals', '--workflow', 'fulfil-order', '--json', '--fields', 'runId,step'],
      { env },
    )
    const others = await belay(['approvals', '--workflow', 'other'], { env })
    const plain = await belay(['approvals', '--plain'], { env, columns: 80 })

    expect(shown.stdout).toMatch(
      /^STEP +RUN +KEY +WORKFLOW +SINCE +TIMES OUT\n◊ approveOrder {2}\S+ {2}order:9183 {2}fulfil-order {2}\d+ s ago {2}in 2 d\n$/,
    )
    expect(plain.stdout).toMatch(
      /^"approveOrder" of run \S+ of "fulfil-order", key order:9183, waits for a decision \(asked \d+ s ago\), and times out in 2 d\.\n$/,
    )
    expect(shown.stderr).toBe('  belay approve order:9183 approveOrder\n')
    expect(JSON.parse(json.stdout)).toEqual({ approvals: [{ runId: id, step: 'approveOrder' }] })
    expect([others.stdout, others.stderr]).toEqual(['', 'Nothing waits for a decision.\n'])
  })
})

describe('belay history', () => {
  it('lists who did what, and why', async () => {
    const { env, order, worker } = await orders()
    const id = await order('order:9182', {})
    await worker.runs.handle(id).pause({ by: 'ada', reason: 'the press is hot' })

    const shown = await belay(['history', 'order:9182'], { env, columns: 80 })
    const json = await belay(['history', 'order:9182', '--json'], { env })
    const payloads = await belay(['history', 'order:9182', '--json', '--payloads'], { env })
    const plain = await belay(['history', 'order:9182', '--plain'], { env, columns: 80 })

    expect(shown.stdout).toMatch(
      /^WHEN +BY +ACTION +STEP +REASON\n\d+ s ago +ada +pause +the press is hot\n$/,
    )
    expect(JSON.parse(json.stdout).history).toEqual([
      {
        at: expect.any(String),
        by: 'ada',
        action: 'pause',
        step: null,
        reason: 'the press is hot',
        key: null,
      },
    ])
    expect(JSON.parse(payloads.stdout).history[0].change).toBeTruthy()
    expect(plain.stdout).toMatch(/^\d+ s ago: pause by ada, because the press is hot\.\n$/)
  })

  it('says that nobody has acted', async () => {
    const { env, order } = await orders()
    await order('order:9182', {})

    const { stdout, stderr } = await belay(['history', 'order:9182'], { env })

    expect([stdout, stderr]).toEqual(['', 'Nobody has acted on this run, and it received no signal.\n'])
  })
})

describe('belay export', () => {
  it('writes runs as NDJSON, newest first, without payloads unless they are asked for', async () => {
    const { env, order } = await orders()
    const first = await order('order:9182', { route: 'post' })
    const second = await order('order:9183', { large: true })

    const bare = await belay(['export', '--workflow', 'fulfil-order', '--since', '1d'], { env })
    const whole = await belay(['export', '--key', 'order:9182', '--payloads'], { env })

    const runs = bare.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(runs.map(({ id }) => id)).toEqual([second, first])
    expect(runs[1]).toMatchObject({ input: null, history: [] })
    expect(bare.stderr).toBe('2 runs written.\n')
    expect(JSON.parse(whole.stdout)).toMatchObject({ id: first, input: { route: 'post' } })
    expect(whole.stderr).toBe('1 run written.\n')
  })
})
