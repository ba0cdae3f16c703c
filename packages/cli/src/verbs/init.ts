import { accessSync, constants, existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { type Made, madeConfig, madeProject, type StoreKind } from '../init/made.ts'
import { isOnlyBelay } from '../init/package-files.ts'
import { CONFIG_NAMES } from '../store/config.ts'
import { ask, canAsk } from '../terminal/ask.ts'
import { safe } from '../terminal/text.ts'

/** `belay init`. */
export async function run(call: Call): Promise<ExitStatus | undefined> {
  const { out, process } = call
  const folder = process.cwd()
  const made = await chosen(call, folder)
  assertFree(folder, made)
  for (const [path, text] of made.files) await write(join(folder, path), text, path === made.completed)
  if (out.json) out.document({ created: [...made.files.keys()], next: made.next })
  else show(call, made)
  return
}

/** Throws a `CliError` with status 1 before anything is written: half a project would be in the way of the next try. */
function assertFree(folder: string, { files, isProject, completed }: Made): void {
  const wanted = [...new Set([...files.keys(), ...(isProject ? [] : CONFIG_NAMES)])]
  const there = wanted.filter((path) => path !== completed && isThere(join(folder, path)))
  if (there.length > 0) {
    const exist = there.length === 1 ? 'This file exists' : 'These files exist'
    throw refused(`${exist}: ${there.join(', ')}. Nothing was written.`)
  }
  for (const name of new Set(wanted.map(dirname))) {
    const path = join(folder, name)
    if (!isThere(path)) continue
    const shown = name === '.' ? 'This folder' : name
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw refused(`${shown} is no folder, and files belong into it. Nothing was written.`)
    }
    if (!mayWrite(path)) throw refused(`${shown} cannot be written to. Nothing was written.`)
  }
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // A folder on its way is a file.
    return false
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function chosen(call: Call, folder: string): Promise<Made> {
  const { postgres, pglite, name, yes } = call.flags
  if (postgres && pglite) throw misused('Give either --postgres or --pglite.')
  const given: StoreKind | undefined = pglite ? 'pglite' : postgres ? 'postgres' : undefined
  const manifest = manifestIn(folder)
  if (manifest !== undefined && !isOnlyBelay(manifest)) {
    if (name !== undefined) throw misused('--name names a new project; this folder has a package.json.')
    return madeConfig(given ?? 'postgres')
  }
  const own = name ?? packageName(basename(folder))
  const asks = !yes && canAsk(call)
  const project = asks && name === undefined ? await askedName(call, own) : own
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(project))
    throw misused(
      `A project has a name like shop-2: small letters, digits, and - . _; got "${safe(project)}".`,
    )
  return madeProject(project, given ?? (asks ? await askedStore(call) : 'postgres'), manifest)
}

/** The text of a package.json; undefined if there is none. */
function manifestIn(folder: string): string | undefined {
  const path = join(folder, 'package.json')
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

async function askedName(call: Call, own: string): Promise<string> {
  return (await ask(call, `Name of the project (${own}): `)) || own
}

async function askedStore(call: Call): Promise<StoreKind> {
  const answer = await ask(call, 'Store: 1 PostgreSQL, 2 PGlite in a directory, without a server (1): ')
  if (answer === '' || answer === '1') return 'postgres'
  if (answer === '2') return 'pglite'
  throw misused(`1 or 2 was asked for, got "${safe(answer)}". Nothing was written.`)
}

/** As npm allows it. */
function packageName(folder: string): string {
  return (
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]+/g, '-')
      .replace(/^[^a-z0-9]+/, '')
      .slice(0, 100) || 'shop'
  )
}

/** Never over what somebody made meanwhile. */
async function write(path: string, text: string, isCompleted: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text, { flag: isCompleted ? 'w' : 'wx' })
}

function show({ out }: Call, { files, next, isProject, completed }: Made): void {
  for (const [path, text] of files) {
    out.line(`${path === completed ? '~' : '+'} ${path}`)
    if (!isProject) for (const line of text.trimEnd().split('\n')) out.line(`    ${line}`)
  }
  if (next.length === 1) return out.note(`Next: ${next[0]}`)
  out.note('Next:')
  for (const command of next) out.note(`  ${command}`)
}
