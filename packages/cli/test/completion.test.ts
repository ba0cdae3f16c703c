import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { define } from '@belay/workflow'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromStore } from '../src/completion/from-store.ts'
import { SCRIPTS } from '../src/completion/scripts.ts'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 })
  .step('charge', { concurrency: { name: 'payments', limit: 20 }, run: () => 1 })
  .step('ship', { dependsOn: ['charge'], run: () => 1 })

/** What is offered in place of the last word, without what it means. */
async function offered(words: readonly string[], env = {}): Promise<readonly string[]> {
  const { stdout, stderr, status } = await belay(['completion', '--', 'belay', ...words], { env })
  expect([stderr, status]).toEqual(['', 0])
  return stdout.split('\n').flatMap((line) => line.split('\t')[0] || [])
}

describe('what is offered', () => {
  it('verbs, and the words of a family', async () => {
    expect(await offered([''])).toEqual(expect.arrayContaining(['list', 'doctor', 'limits', 'schedules']))
    expect(await offered(['sched'])).toEqual(['schedules'])
    expect(await offered(['schedules', 'pre'])).toEqual(['preview'])
    expect(await offered(['--utc', 'schedules', 'pre'])).toEqual(['preview'])
  })

  it('flags of the verb, with what they mean', async () => {
    expect(await offered(['list', '--st'])).toEqual(['--status'])
    expect(await offered(['migrate', '--st'])).toEqual([])
    const { stdout } = await belay(['completion', '--', 'belay', 'migrate', '--dry'])
    expect(stdout).toBe('--dry-run\tsays what would be done, and does nothing\n')
  })

  it('statuses, also in a list and behind an equals sign', async () => {
    expect(await offered(['list', '--status', 'compl'])).toEqual(['completed'])
    expect(await offered(['list', '--status', 'failed,compl'])).toEqual(['failed,completed'])
    expect(await offered(['list', '--status', 'und'])).toEqual(['undoing', 'undone', 'undo-parked'])
    expect(await offered(['list', '--status=failed,compl'])).toEqual(['--status=failed,completed'])
    expect(await offered(['completion', 'f'])).toEqual(['fish'])
  })

  it('nothing where a value is free', async () => {
    expect(await offered(['limits', 'set', 'payments', '--slots', ''])).toEqual([])
    expect(await offered(['list', '--tag', ''])).toEqual([])
  })

  it('names from the store, but none that a shell would read otherwise', async () => {
    const { env, engine } = await testStore()
    const worker = engine({ workflows: [order] })
    await worker.start()
    await worker.schedules.put('digest:7', { every: '1d', workflow: order })
    await worker.run(order, undefined, { key: 'order:1' })
    const run = await worker.run(order, undefined, { key: '$(reboot)' })
    const place = {
      flags: {},
      run: 'order:1',
      process: { env, cwd: () => '.', stdout: { write: () => true } },
    }

    expect(await offered(['list', '--workflow', ''], env)).toEqual(['fulfil-order'])
    expect(await offered(['limits', 'set', 'p'], env)).toEqual(['payments'])
    expect(await offered(['schedules', 'pause', ''], env)).toEqual(['digest:7'])
    expect(await fromStore('runs', place)).toEqual([run.id, 'order:1'])
    expect(await fromStore('steps', place)).toEqual(['charge', 'ship'])
    expect(await fromStore('steps', { ...place, run: 'nope' })).toEqual([])
  })

  it('the store is the one whose flags were typed', async () => {
    const { env, url, schema, engine } = await testStore()
    const worker = engine({ workflows: [order] })
    await worker.start()

    const typed = ['--url', url, `--schema=${schema}`]

    expect(await offered([...typed, 'limits', 'reset', ''])).toEqual(['payments'])
    expect(await offered(['--schema', 'other', 'limits', 'reset', ''], env)).toEqual([])
  })

  it('nothing from a store that is not there, or does not answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await once(silent, 'listening')
    const { port } = silent.address() as { readonly port: number }

    expect(await offered(['limits', 'set', ''])).toEqual([])
    expect(await offered(['limits', 'set', ''], { DATABASE_URL: 'postgres://127.0.0.1:1/x' })).toEqual([])
    expect(await offered(['limits', 'set', ''], { DATABASE_URL: `postgres://127.0.0.1:${port}/x` })).toEqual(
      [],
    )
  })
})

const hasBash = process.platform !== 'win32'

describe('the scripts', () => {
  it('are printed, and only for shells that are known', async () => {
    for (const [shell, script] of Object.entries(SCRIPTS)) {
      expect((await belay(['completion', shell])).stdout).toBe(script)
    }
    const { stderr, status } = await belay(['completion', 'tcsh'])
    expect([stderr, status]).toEqual(['There is no script for tcsh; there is bash, zsh and fish.\n', 2])
  })

  it.skipIf(!hasBash)('in bash, what is offered replaces the word, also behind a colon', async () => {
    const folder = await askedProgram()
    const type = async (line: string) => [
      await inShell(
        'bash',
        `${SCRIPTS['bash']}\nCOMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _belay; printf '%s\\n' "\${COMPREPLY[@]}"`,
        folder,
      ),
      readFileSync(join(folder, 'asked'), 'utf8'),
    ]

    expect(await type('belay show ')).toEqual([['order:1', 'order:2'], 'completion\n--\nbelay\nshow\n\n'])
    expect(await type('belay show order:')).toEqual([['1', '2'], 'completion\n--\nbelay\nshow\norder:\n'])
  })

  it.skipIf(!has('zsh'))('in zsh, what is offered stands in its list (skipped without zsh)', async () => {
    const folder = await askedProgram()
    // What the shell's own functions would be given.
    const list = `compdef() { :; }; compadd() { print -l -- "\${(@P)2}"; }; ${SCRIPTS['zsh']}\nwords=(belay show order:); CURRENT=3; _belay`

    expect(await inShell('zsh', list, folder)).toEqual(['order:1', 'order:2'])
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('completion\n--\nbelay\nshow\norder:\n')
  })

  it.skipIf(!has('fish'))('in fish, what is offered has its meaning (skipped without fish)', async () => {
    const folder = await askedProgram()

    const offers = await inShell('fish', `${SCRIPTS['fish']}\ncomplete -C 'belay show order:'`, folder)

    expect(offers).toEqual(['order:1\tthe first', 'order:2'])
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('completion\n--\nbelay\nshow\norder:\n')
  })
})

function has(shell: string): boolean {
  return hasBash && spawnSync(shell, ['-c', 'exit 0']).status === 0
}

/** A folder with a `belay` that keeps what it was asked and offers two orders. */
async function askedProgram(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-completion-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(folder, 'belay')
  await writeFile(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/asked"\nprintf 'order:1\\tthe first\\norder:2\\n'\n`,
  )
  await chmod(program, 0o755)
  return folder
}

async function inShell(shell: string, script: string, folder: string): Promise<readonly string[]> {
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
  const { stdout } = await promisify(execFile)(shell, ['-c', script], { env })
  return stdout.trimEnd().split('\n')
}
