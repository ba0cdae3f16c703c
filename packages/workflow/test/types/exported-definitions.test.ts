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
const COMPILERS = {
  'TypeScript 7': join(PACKAGE, '../../node_modules/typescript/bin/tsc'),
  'TypeScript 5': join(PACKAGE, '../../node_modules/typescript-5/bin/tsc'),
}
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
      COMPILERS['TypeScript 7'],
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
    ['TypeScript 7', 'npm', 'nodenext'],
    ['TypeScript 7', 'npm', 'bundler'],
    ['TypeScript 7', 'pnpm', 'nodenext'],
    ['TypeScript 7', 'pnpm', 'bundler'],
    ['TypeScript 5', 'pnpm', 'nodenext'],
  ] as const)('by %s in the layout of %s, with %s', (compiler, layout, resolution) => {
    const folder = join(root, layout)

    const errors = emitDeclarations(
      COMPILERS[compiler],
      [
        // Without it, version 7 refuses files beside a configuration; version 5 does not know it.
        ...(compiler === 'TypeScript 7' ? ['--ignoreConfig'] : []),
        '--strict',
        '--target',
        'es2022',
        ...MODULES[resolution],
        join(folder, 'definitions.ts'),
      ],
      join(folder, compiler, resolution),
    )

    expect(errors).toEqual([])
    const declarations = readFileSync(join(folder, compiler, resolution, 'definitions.d.ts'), 'utf8')
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
function emitDeclarations(tsc: string, args: readonly string[], outDir: string): readonly string[] {
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
    execFileSync(process.execPath, [tsc, ...args, ...options], { encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout.split('\n').filter((line) => line !== '')
  }
  return []
}
