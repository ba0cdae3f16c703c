import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { contentProblems } from './contents.mjs'
import { packPackages, root } from './pack.mjs'

const execute = promisify(execFile)

/** Checks each package as npm would deliver it: what it contains, and how Node and TypeScript resolve it. `--into <folder>` keeps the tarballs. */
async function main() {
  const { into } = parseArgs({ options: { into: { type: 'string' } } }).values
  const destination = into === undefined ? await mkdtemp(join(tmpdir(), 'belay-packages-')) : resolve(into)
  await mkdir(destination, { recursive: true })
  try {
    let problems = 0
    for (const packed of await packPackages(destination)) {
      const found = await problemsOf(packed)
      problems += found.length
      console.log(`${found.length === 0 ? 'ok ' : 'BAD'} ${packed.name}: ${packed.files.length} files`)
      for (const problem of found) console.error(`    ${problem}`)
    }
    if (problems > 0) process.exitCode = 1
  } finally {
    if (into === undefined) await rm(destination, { recursive: true, force: true })
  }
}

/** @param {import('./pack.mjs').PackedPackage} packed */
async function problemsOf({ tarball, files }) {
  const manifest = JSON.parse((await execute('tar', ['-xOzf', tarball, 'package/package.json'])).stdout)
  const { buffer } = new Uint8Array(await readFile(tarball))
  const { messages } = await publint({ pack: { tarball: buffer }, strict: true })
  return [
    ...contentProblems({ files, manifest }),
    ...messages.map((message) => `publint: ${formatMessage(message, manifest)}`),
    ...(await typeProblems(tarball, manifest)),
  ]
}

/**
 * Old resolvers do not count, and neither does CommonJS: Node gives ES modules to require() too, as the declarations say. Only tools like Jest take
 * the CommonJS copy. Files that no program imports, such as YAML, have no types.
 * @param {string} tarball
 * @param {{ exports: Readonly<Record<string, unknown>> }} manifest
 */
async function typeProblems(tarball, manifest) {
  const attw = join(root, 'tools/packed/node_modules/.bin/attw')
  const untyped = Object.keys(manifest.exports).filter((entry) => entry.endsWith('.yaml'))
  try {
    const excluded = untyped.length === 0 ? [] : ['--exclude-entrypoints', ...untyped]
    const options = ['--profile', 'esm-only', '--ignore-rules', 'false-esm', '--format', 'ascii']
    await execute(attw, [tarball, ...options, '--no-color', '--no-emoji', ...excluded])
    return []
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error)
    return [`attw:\n${(stdout + stderr).trim()}`]
  }
}

await main()
