import { access, appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** One thing that happened to a file: it was written, found already written by an earlier attempt, or removed. */
export interface LedgerLine {
  readonly what: 'wrote' | 'found' | 'removed'
  readonly file: string
}

/** Files in a folder, and a ledger of what happened to them. Each operation may be repeated. A write takes at least `latencyMs`. */
export class Files {
  readonly #folder: string
  readonly #latencyMs: number

  constructor(folder: string, { latencyMs = 0 } = {}) {
    this.#folder = folder
    this.#latencyMs = latencyMs
  }

  pathOf(file: string): string {
    return join(this.#folder, file)
  }

  read(file: string): Promise<Buffer> {
    return readFile(this.pathOf(file))
  }

  /** Writes a file as a whole or not at all. What is there already stays. */
  async writeOnce(file: string, make: () => Promise<Buffer | string>): Promise<void> {
    if (await this.has(file)) return this.#note({ what: 'found', file })
    const path = this.pathOf(file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.part`, await make())
    if (this.#latencyMs > 0) await pause(this.#latencyMs)
    await rename(`${path}.part`, path)
    await this.#note({ what: 'wrote', file })
  }

  /** Removes a file, and what an attempt that was killed has left of it. */
  async remove(file: string): Promise<void> {
    await rm(`${this.pathOf(file)}.part`, { force: true })
    if (!(await this.has(file))) return
    await rm(this.pathOf(file))
    await this.#note({ what: 'removed', file })
  }

  has(file: string): Promise<boolean> {
    return access(this.pathOf(file)).then(
      () => true,
      () => false,
    )
  }

  /** The ledger's lines about the files of one folder, oldest first. */
  async ledger(folder: string): Promise<readonly LedgerLine[]> {
    const text = await readFile(this.pathOf(LEDGER), 'utf8').catch(() => '')
    const lines = text.split('\n').filter((line) => line !== '')
    return lines
      .map((line) => line.split(' ') as [LedgerLine['what'], string])
      .map(([what, file]) => ({ what, file }))
      .filter(({ file }) => file.startsWith(`${folder}/`))
  }

  /** Deletes everything, the ledger too. */
  clear(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true })
  }

  // A line this short is appended as a whole, even if another process appends at the same moment.
  #note({ what, file }: LedgerLine): Promise<void> {
    return appendFile(this.pathOf(LEDGER), `${what} ${file}\n`)
  }
}

const LEDGER = 'ledger.txt'
