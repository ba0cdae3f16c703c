import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { commandFor } from '../src/runs/commands.ts'
import { typedCommand } from '../src/runs/typed.ts'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 1 }).waitForSignal('shipped')

it('a key that begins like a flag never becomes one', async () => {
  const { env, engine } = await testStore()
  const own = engine({ workflows: [order] })
  const run = await own.run(order, undefined, { key: '--all' })
  const other = await own.run(order, undefined, { key: 'order:2' })

  const listed = await belay(['pause', '--json', '--', '--all'], { env })
  const refused = await belay(['retry', '--reason', 'x', '--', '--all'], { env })

  expect(JSON.parse(listed.stdout)).toMatchObject({ runId: run.id, changed: true })
  expect((await own.runs.get(other.id))?.status).toBe('running')
  expect(refused.stderr).toMatch(new RegExp(`\n {2}belay explain ${run.id}\n|\n {2}belay resume ${run.id}\n`))
  expect(commandFor({ verb: 'resume' }, { id: run.id, key: '--all' })).toBe(`resume ${run.id}`)
})

it('a command is repeated with its operands after `--` if one begins like a flag', () => {
  const call = { verb: { name: 'cancel' }, args: { run: '--all' }, rest: [], flags: { by: 'ann' } }

  expect(typedCommand(call, '--reason', "'…'")).toBe("cancel --by ann --reason '…' -- --all")
  expect(typedCommand({ ...call, args: { run: '-' } }, '--dry-run')).toBe('cancel - --by ann --dry-run')
})

it.skipIf(!existsSync('/dev/full'))('a full disk ends a command with one sentence', () => {
  const program = fileURLToPath(new URL('../bundle/bin.js', import.meta.url))
  const full = openSync('/dev/full', 'w')

  const { status, stderr } = spawnSync(process.execPath, [program, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)

  expect(stderr).toBe('The output cannot be written: there is no space left.\n')
  expect(status).toBe(1)
})
