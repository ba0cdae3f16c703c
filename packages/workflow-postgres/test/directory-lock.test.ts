import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BelayError } from '@belay/workflow/adapter'
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { lockDirectory } from '../src/pglite/directory-lock.ts'
import { type Child, compile, spawnScript } from './setup/children.ts'

describe('the lock of a directory', () => {
  let home: string
  let directory: string
  let file: string
  const children: Child[] = []

  beforeAll(compile)
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'belay-lock-'))
    directory = join(home, 'deep', 'data')
    file = `${directory}.lock`
  })
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill('SIGKILL')))
    rmSync(home, { recursive: true })
  })

  const lockInProcess = async () => {
    const child = spawnScript('lock-directory.mjs', directory)
    children.push(child)
    return { child, answer: await child.line() }
  }
  const refusal = (): BelayError => {
    try {
      lockDirectory(directory)
    } catch (error) {
      return error as BelayError
    }
    return expect.fail('was expected to be refused')
  }

  it('keeps another process out, naming the holder and the file', async () => {
    const { child, answer } = await lockInProcess()
    expect(answer).toBe('locked')

    const error = refusal()

    expect(error).toMatchObject({ code: 'directory_in_use' })
    expect(error.message).toContain(`process ${child.process.pid}`)
    expect(error.message).toContain(file)
  })

  it('leaves no file behind if the disk is full', () => {
    const write = fs.writeFileSync
    const full = vi.spyOn(fs, 'writeFileSync').mockImplementationOnce((path) => {
      write(path, '')
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    })
    onTestFinished(() => full.mockRestore())

    expect(() => lockDirectory(directory)).toThrow('ENOSPC')

    expect(readdirSync(join(home, 'deep'))).toEqual(['data'])
  })

  it('keeps this process from opening it twice', () => {
    const lock = lockDirectory(directory)
    expect(refusal().message).toContain('this process')
    lock.release()
    lockDirectory(directory).release()
    expect(existsSync(file)).toBe(false)
  })

  it('is the same for every path to the directory', () => {
    const lock = lockDirectory(directory)
    const other = join(home, 'link')
    symlinkSync(directory, other)
    expect(() => lockDirectory(other)).toThrow('in use')
    lock.release()
  })

  it('ends with its process, killed or ended', async () => {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const { child, answer } = await lockInProcess()
      expect(answer).toBe('locked')
      await child.kill(signal)
      lockDirectory(directory).release()
    }
  })

  it('is not held by a later process that got the id of the holder', () => {
    const lock = lockDirectory(directory)
    const holder = JSON.parse(readFileSync(file, 'utf8'))
    lock.release()
    writeFileSync(file, JSON.stringify({ ...holder, processStartedAt: '1' }))

    // Without /proc nobody can tell, so the holder keeps the lock.
    if (holder.processStartedAt === null) expect(refusal().code).toBe('directory_in_use')
    else lockDirectory(directory).release()
  })

  it.runIf(existsSync('/proc/self/stat'))(
    'is not held by a killed process whose parent has not reaped it',
    async () => {
      // A program replaces the shell as the parent of the shell's child, and never reaps it.
      const script = fileURLToPath(new URL('./processes/lock-directory.mjs', import.meta.url))
      const negligent = spawn(
        'sh',
        ['-c', '"$0" "$1" "$2" <&3 & exec sleep 60', process.execPath, script, directory],
        {
          stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
        },
      )
      onTestFinished(() => void negligent.kill('SIGKILL'))
      await once(negligent.stdout!, 'data')
      const { pid } = JSON.parse(readFileSync(file, 'utf8'))
      expect(refusal().code).toBe('directory_in_use')

      process.kill(pid, 'SIGKILL')
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), { timeout: 10_000 }).toMatch(/\) Z /)

      lockDirectory(directory).release()
      expect(existsSync(`/proc/${pid}`)).toBe(true)
    },
  )

  it('of a process that is gone is taken over by exactly one of several that want it at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { child } = await lockInProcess()
      await child.kill('SIGKILL')

      const contenders = await Promise.all(Array.from({ length: 6 }, lockInProcess))

      expect(contenders.map(({ answer }) => answer).sort()).toEqual([
        ...Array.from({ length: 5 }, () => 'directory_in_use'),
        'locked',
      ])
      await Promise.all(contenders.map((contender) => contender.child.kill('SIGKILL')))
    }
  })
})
