import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** What a reader has installed: the packages, the other dependencies of the examples, drizzle for the schema, what telemetry is sent with, what the dashboard is mounted in, and Vitest. */
const MODULES = [
  'examples/node_modules',
  'packages/workflow-postgres/node_modules',
  'tools/checks/node_modules',
  'packages/dashboard/node_modules',
  'node_modules',
]

const OPTIONS = {
  target: 'ES2023',
  lib: ['ES2023', 'DOM', 'ESNext.Disposable'],
  module: 'NodeNext',
  moduleDetection: 'force',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
}

/**
 * Compiles code blocks against the built packages, each as a module of its own.
 * @param {readonly (import('./code-blocks.mjs').CodeBlock & { page: string })[]} blocks
 * @returns {Promise<string[]>} the compiler's errors, at their place in the page
 */
export async function compileBlocks(blocks) {
  const folder = await mkdtemp(join(tmpdir(), 'belay-docs-'))
  try {
    await linkModules(folder)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: OPTIONS, include: ['*.ts', 'page-*/**/*.ts'] }),
    )
    const files = new Map(blocks.map((block, index) => [fileOf(block, index), block]))
    for (const [file, { code }] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), code)
    }
    return (await tsc(folder)).map((line) => atPage(line, files))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {string} folder */
async function linkModules(folder) {
  for (const modules of MODULES.map((path) => join(root, path)).filter((path) => existsSync(path))) {
    for (const name of await readdir(modules)) {
      if (name.startsWith('.')) continue
      const names = name.startsWith('@')
        ? (await readdir(join(modules, name))).map((rest) => `${name}/${rest}`)
        : [name]
      for (const each of names) await linkOnce(join(modules, each), join(folder, 'node_modules', each))
    }
  }
}

/** @param {string} target @param {string} path */
async function linkOnce(target, path) {
  if (existsSync(path)) return
  await mkdir(join(path, '..'), { recursive: true })
  await symlink(target, path, 'junction')
}

/** @param {string} folder @returns {Promise<string[]>} */
function tsc(folder) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [compiler, '-p', folder, '--pretty', 'false'],
      { cwd: folder },
      (error, stdout, stderr) => {
        const errors = stdout
          .split('\n')
          .filter((line) => line.includes(' error TS') || line.startsWith('error TS'))
        // A compiler that fails without naming an error has checked nothing.
        if (error !== null && errors.length === 0) reject(new Error(`tsc failed:\n${stdout}${stderr}`))
        else resolve(errors)
      },
    )
  })
}

/**
 * @param {import('./code-blocks.mjs').CodeBlock & { page: string }} block
 * @param {number} index
 */
function fileOf({ page, file }, index) {
  return file === undefined ? `block-${index}.ts` : `page-${page.replaceAll(/[/.]/g, '-')}/${file}`
}

/**
 * @param {string} line `block-3.ts(7,5): error TS2304: …`
 * @param {ReadonlyMap<string, import('./code-blocks.mjs').CodeBlock & { page: string }>} files
 */
function atPage(line, files) {
  return line.replace(/^(\S+)\((\d+),(\d+)\)/, (all, file, row, column) => {
    const block = files.get(file)
    return block === undefined ? all : `${block.page}:${block.line + Number(row) - 1}:${column}`
  })
}
