import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(PACKAGE, '../../node_modules/typescript/bin/tsc')
const MODULES = {
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
}

describe('exported definitions of every kind have declarations', () => {
  let root: string

  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-declarations-')))
    const delivered = join(root, 'delivered')
    cpSync(join(PACKAGE, 'package.json'), join(delivered, 'package.json'))
    emitDeclarations(
      ['-p', PACKAGE, '--composite', 'false', '--incremental', 'false'],
      join(delivered, 'dist'),
    )
    // npm puts all packages side by side; pnpm links a package's dependencies only beside the package itself.
    project('npm', (modules) => ({ at: join(modules, '@belay/workflow'), beside: modules }))
    project('pnpm', (modules) => {
      const beside = join(modules, '.pnpm/@belay+workflow@0.1.0/node_modules')
      link(join(beside, '@belay/workflow'), join(modules, '@belay/workflow'))
      return { at: join(beside, '@belay/workflow'), beside }
    })
  })

  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it.each([
    ['npm', 'nodenext'],
    ['npm', 'bundler'],
    ['pnpm', 'nodenext'],
    ['pnpm', 'bundler'],
  ] as const)('in the layout of %s, with %s', (layout, resolution) => {
    const folder = join(root, layout)

    const errors = emitDeclarations(
      [
        '--ignoreConfig',
        '--strict',
        '--target',
        'es2022',
        ...MODULES[resolution],
        join(folder, 'definitions.ts'),
      ],
      join(folder, resolution),
    )

    expect(errors).toEqual([])
    const declarations = readFileSync(join(folder, resolution, 'definitions.d.ts'), 'utf8')
    expect(new Set(declarations.match(/(?<=from |import\()["'][^"']+/g))).toEqual(
      new Set(['"@belay/workflow']),
    )
    expect(declarations).not.toMatch(/\bany\b/)
  })

  /** A folder with the program and the installed packages, as the package manager lays them out. */
  function project(
    name: string,
    install: (modules: string) => { readonly at: string; readonly beside: string },
  ) {
    const folder = join(root, name)
    const modules = join(folder, 'node_modules')
    const { at, beside } = install(modules)
    cpSync(join(root, 'delivered'), at, { recursive: true })
    for (const dependency of ['@standard-schema/spec', '@dagrejs/graphlib']) {
      link(realpathSync(join(PACKAGE, 'node_modules', dependency)), join(beside, dependency))
    }
    link(realpathSync(join(PACKAGE, 'node_modules/zod')), join(modules, 'zod'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    cpSync(join(PACKAGE, 'test/types/exported/definitions.ts'), join(folder, 'definitions.ts'))
  }
})

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, 'junction')
}

/** The errors of a compilation that writes only declarations. */
function emitDeclarations(args: readonly string[], outDir: string): readonly string[] {
  const options = [
    '--declaration',
    '--emitDeclarationOnly',
    '--skipLibCheck',
    '--pretty',
    'false',
    '--outDir',
    outDir,
  ]
  try {
    execFileSync(process.execPath, [TSC, ...args, ...options], { encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout.split('\n').filter((line) => line !== '')
  }
  return []
}
