import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, type TestContext } from 'vitest'
import { until } from '../src/pause.ts'
import { Child } from '../src/supervisor/child.ts'
import { Guard } from '../src/supervisor/guard.ts'

const path = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url))
const setup = { name: 'w1.1', url: '', worldUrl: '', seed: 1, leaseMs: 1, tickMs: 1 }

function given({ onTestFinished }: TestContext) {
  const guard = new Guard()
  const deaths: string[] = []
  const start = (program: string) => {
    const child = new Child({
      ...{ program: path(program), setup, guard },
      onMessage: () => {},
      onDeath: (sentence) => deaths.push(sentence),
    })
    onTestFinished(() => (child.hasEnded ? undefined : child.kill()))
    return child
  }
  onTestFinished(() => guard.close())
  return { start, deaths }
}

describe('a process of the harness', () => {
  it('that exits by itself is a death, reported with its last output', async (context) => {
    const { start, deaths } = given(context)

    await start('dies.mjs').ended

    expect(deaths).toHaveLength(1)
    expect(deaths[0]).toMatch(/w1\.1 exited with 1 by itself\..*something broke/s)
  })

  it('that was killed, or told to leave, is not a death', async (context) => {
    const { start, deaths } = given(context)
    const [killed, told] = [start('stays.mjs'), start('stays.mjs')]

    await killed.kill()
    told.leave()
    await told.ended

    expect(deaths).toEqual([])
  })

  it('ends with its supervisor, even when it is stopped by a signal', async () => {
    const supervisor = spawn(process.execPath, [path('supervises.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface({ input: supervisor.stdout! }), 'line')
    const pid = Number(line)

    supervisor.kill('SIGKILL')

    expect(await until(10_000, 20, () => !isAlive(pid))).toBe(true)
  })
})

/** A zombie process counts as gone. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
