import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import type { Counts } from './world.ts'

const LONGEST_MS = 3_600_000

/** Of a range of seeds: what happened in its runs, or the first one that broke a rule. */
type Played = { readonly counts: Counts } | { readonly broken: string }

interface Range {
  readonly first: number
  readonly runs: number
}

/**
 * Plays ranges of seeds in processes of their own, from a bundle: a run takes two thirds of the time that it takes in the test runner, ranges go side by
 * side, and a broken machine, which may not end, can be killed.
 */
export class Ranges {
  readonly folder = mkdtempSync(join(tmpdir(), 'belay-machine-'))
  #bundles = 0

  /** The program for the machine and its tests below `root`. */
  async bundle(root: string): Promise<string> {
    this.#bundles += 1
    const [main, file] = ['ts', 'mjs'].map((end) => join(this.folder, `main-${this.#bundles}.${end}`))
    writeFileSync(main!, programOf(join(root, 'test/machine/play.ts')))
    const made = await rolldown({ input: main!, platform: 'node', logLevel: 'silent' })
    await made.write({ file: file!, format: 'esm' })
    return file!
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const programOf = (play: string): string => `
  import { noCounts, play } from ${JSON.stringify(play)}
  const [first, runs] = process.argv.slice(2).map(Number)
  const counts = noCounts()
  let told = { counts }
  try {
    for (let seed = first; seed < first + runs; seed++) play(seed, counts, { isHard: seed % 4 === 0 })
  } catch ({ message }) {
    told = { broken: /^seed/.test(message) ? message : 'seed 0: ' + message }
  }
  console.log(JSON.stringify(told))`

export function playRange(program: string, { first, runs }: Range, timeout = LONGEST_MS): Promise<Played> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, String(first), String(runs)], { timeout }, (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout))
      // Killed by the timeout, or out of memory. What only exits has not played at all.
      else if (error.signal != null) resolve({ broken: `seed 0: it does not end: ${error.message}` })
      else reject(error)
    })
  })
}
