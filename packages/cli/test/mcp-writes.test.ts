import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { main } from '../src/main.ts'
import { argvOf, mayChange, type Tool, toolsOf } from '../src/mcp/tools.ts'
import { parse } from '../src/parse.ts'
import { configFolder } from './setup/config.ts'
import { bank, type Shop, shop } from './setup/shop.ts'

const tools = toolsOf({ writes: true, payloads: true }).filter(({ verb }) => verb.access === 'write')

/** The shop, with a schedule and limits. */
async function surroundings() {
  const opened = await shop()
  const report = define('nightly-report', { version: 1 })
    .step('pay', { run: () => 1, concurrency: { limit: 5, name: 'payments' } })
    .step('call', { run: () => 1, rateLimit: { limit: 50, per: '1s', name: 'partner' } })
  const worker = opened.engine({ workflows: [report] })
  await worker.schedules.put('nightly-report', { workflow: report, cron: '0 3 * * *', input: null })
  await worker.start()
  bank.refunds = 'open'
  return { ...opened, cwd: await configFolder('[fulfil(4)]') }
}

/** Everything that a tool could change. */
async function everything({ engine }: Shop) {
  const { runs, limits, schedules } = engine()
  const all = await runs.list({ steps: true })
  return {
    runs: all.map(({ id, status, priority, version, steps }) => [id, status, priority, version, steps]),
    histories: await Promise.all(all.map(({ id }) => runs.history(id))),
    limits: (await limits.list()).map(({ name, set }) => [name, set]),
    schedules: (await schedules.list()).map(({ name, status, firings }) => [name, status, firings]),
  }
}

/** What the examples of its help say, as a client gives it, without `yes`. */
function callsOf({ verb }: Tool): readonly Record<string, unknown>[] {
  return verb.examples.map(({ command }) => {
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
    const typed = parse(words, { stdout: { write: () => true } }, '')
    if ('shows' in typed) throw new Error(`${command} is no call.`)
    const { yes: _, archive: __, ...flags } = typed.flags
    const many = verb.args?.find((arg) => arg.many)
    return { ...typed.args, ...(many === undefined ? {} : { [many.name]: typed.rest }), ...flags }
  })
}

it('every tool that acts takes `yes`', () => {
  expect(tools.length).toBeGreaterThan(15)
  for (const { inputSchema } of tools) expect(inputSchema.properties).toHaveProperty('yes')
})

it('no tool changes anything without `yes`, and each says what it would do', async () => {
  const opened = await surroundings()
  const before = await everything(opened)

  for (const tool of tools) {
    for (const given of callsOf(tool)) {
      const { status, said } = await called(opened, tool, given)

      expect([tool.name, await everything(opened)]).toEqual([tool.name, before])
      // `undo give-up` is about a run that the shop does not have.
      expect([tool.name, said, status]).toEqual([
        tool.name,
        expect.stringMatching(tool.name === 'undo_give_up' ? 'No run has the key' : /dry|pending|counts/i),
        tool.name === 'undo_give_up' || tool.name === 'move' ? 1 : 0,
      ])
    }
  }
})

it('a tool checks what it is about without `yes`, and does it with `yes`', async () => {
  const opened = await surroundings()
  const approve = tools.find(({ name }) => name === 'approve')!
  const given = { run: 'order:9183', step: 'approveOrder' }

  const dry = await called(opened, approve, given)
  const wrong = await called(opened, approve, { ...given, step: 'aproveOrder' })
  const unchecked = await called(opened, approve, { ...given, data: '{}' })
  const retry = await called(opened, tools.find(({ name }) => name === 'retry')!, {
    run: 'order:9184',
    step: ['bookCourier'],
  })
  const done = await called(opened, approve, { ...given, yes: true })

  expect(JSON.parse(dry.said.split('\n')[0]!)).toMatchObject({
    dryRun: true,
    would: 'approve order:9183 approveOrder',
    run: { key: 'order:9183', status: 'waiting' },
    step: { name: 'approveOrder', status: 'waiting' },
  })
  expect([wrong.status, wrong.said]).toEqual([1, expect.stringContaining('has no step "aproveOrder"')])
  expect([unchecked.status, unchecked.said]).toEqual([2, expect.stringContaining('nobody checks')])
  expect([retry.status, retry.said]).toEqual([0, expect.stringContaining('"would":"retry order:9184')])
  expect([done.status, done.said]).toEqual([0, expect.stringContaining('delivered')])
})

async function called(
  { env, cwd }: Shop & { readonly cwd: string },
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
) {
  let said = ''
  const sink = {
    write(text: string) {
      said += text
      return true
    },
  }
  const status = await main(
    argvOf(tool, given),
    { stdin: process.stdin, stdout: sink, stderr: sink, env, cwd: () => cwd },
    { version: '', signal: AbortSignal.timeout(20_000), onlyDry: !mayChange(tool, given) },
  )
  return { status, said }
}
