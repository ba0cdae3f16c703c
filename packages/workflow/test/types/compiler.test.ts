import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the compiler says in a sentence what is wrong with a name', () => {
  expect(compileErrors(fileOf('must-not-compile/names.ts'))).toEqual([
    `5: Step "reserveStok" is not defined before this step: define it first, or correct the name.`,
    `6: Step "own" is not defined before this step: define it first, or correct the name.`,
    `7: Step "late" is not defined before this step: define it first, or correct the name.`,
    `8: Step "reserveStock" is defined already: give one of them another name.`,
    `9: Step "second" is not defined before this step: define it first, or correct the name.`,
  ])
})

it('the compiler says where to declare a dependency, how to write a duration, and that a child needs an input', () => {
  const duration = 'as milliseconds, or as a number and a unit: 250ms, 30s, 5m, 2h, 7d or 1w'
  expect(
    tscOutput(fileOf('must-not-compile/forms.ts')).match(/ on type .*|Written<"[^"]*|parameter of type .*/g),
  ).toEqual([
    ` on type '{} & OnlyStepsNamedInDependsOn'.`,
    ` on type '{ readonly b: number; } & OnlyStepsNamedInDependsOn'.`,
    `Written<"${duration}`,
    `Written<"${duration}`,
    `Written<"${duration}`,
    `parameter of type '"The child takes another input than this workflow: give { input }, which computes it."'.`,
  ])
})

it('the compiler says in a sentence which outputs and inputs cannot be stored', () => {
  expect(compileErrors(fileOf('must-not-compile/outputs.ts'))).toEqual([
    '5: A bigint has no JSON form: give a text instead.',
    '6: A symbol has no JSON form: leave it out.',
    '7: A function has no JSON form: leave it out, or give what it returns.',
    '8: JSON makes an empty object of a Map or a Set: give an array, like [...map].',
    '9: JSON makes an empty object of a Map or a Set: give an array, like [...map].',
    '10: JSON makes an empty object of an Error: give its message, or throw it.',
    '11: JSON makes an empty object of a promise: await it.',
    '12: A function has no JSON form: leave it out, or give what it returns.',
    '13: What this schema gives is stored as JSON, which has no form for a bigint, a symbol, a function, a Map, a Set or an Error.',
  ])
})

it('the compiler says in a sentence what is wrong with dependencies', () => {
  expect(compileErrors(fileOf('must-not-compile/dependencies.ts'))).toEqual([
    `7: Step "a" is named twice: name each dependency once.`,
    `7: Step "a" is named twice: name each dependency once.`,
    `8: Step "b" is named twice: name each dependency once.`,
    `8: Step "b" is named twice: name each dependency once.`,
    `9: Step "z" is not in steps: add it there, or correct the name.`,
    `10: Step "aa" is not in steps: add it there, or correct the name.`,
  ])
})

it('the compiler says in a sentence what is wrong with the case of a choice', () => {
  expect(compileErrors(fileOf('must-not-compile/cases.ts'))).toEqual([
    `7: Step "method" has no case "crad": name one of its cases.`,
    `8: Step "method" has no case "cash": name one of its cases.`,
    `9: Step "load" is not a choice: give when a function that looks at deps, define the step with choose(), or give it onFailure: 'continue'.`,
    `10: Step "way" is not defined before this step: define it first, or correct the name.`,
  ])
})

it('the compiler follows types through a chain of 150 steps', () => {
  const steps = Array.from({ length: 150 }, (_, index) =>
    index === 0
      ? `.step('s0', { run: () => ({ n: 1 }) })`
      : `.step('s${index}', { dependsOn: ['s${index - 1}'], run: async ({ deps }) => ({ n: deps.s${index - 1}.n }), compensate: ({ output }) => output.n.toFixed() })`,
  )
  const program = [
    `import { define } from '${fileOf('../../src/definition/index.ts')}'`,
    `const chain = define('chain', { version: 1 })`,
    ...steps,
    `chain.step('right', { dependsOn: ['s149'], run: ({ deps }) => deps.s149.n.toFixed() })`,
    `chain.step('wrong', { dependsOn: ['s150'], run: () => 1 })`,
  ]
  expect(compileErrorsOf(program.join('\n'))).toEqual([
    `154: Step "s150" is not defined before this step: define it first, or correct the name.`,
  ])
})

it('the compiler follows types through a chain of 150 steps that may be skipped', () => {
  const steps = Array.from({ length: 150 }, (_, index) =>
    index === 0
      ? `.step('s0', { when: () => true, run: () => ({ n: 1 }) })`
      : `.step('s${index}', { dependsOn: ['s${index - 1}'], run: async ({ deps }) => ({ n: deps.s${index - 1}.n }) })`,
  )
  const program = [
    `import { define, type OutputsOf } from '${fileOf('../../src/definition/index.ts')}'`,
    `const chain = define('chain', { version: 1 })`,
    ...steps,
    `export const missing: OutputsOf<typeof chain>['s149'] = undefined`,
    `chain.step('wrong', { dependsOn: ['s150'], run: () => 1 })`,
  ]
  expect(compileErrorsOf(program.join('\n'))).toEqual([
    `154: Step "s150" is not defined before this step: define it first, or correct the name.`,
  ])
})

it('the work of the compiler for a chain of 100 steps stays as it is', () => {
  const steps = Array.from({ length: 100 }, (_, index) =>
    index === 0
      ? `.step('s0', { run: () => ({ n: 1 }) })`
      : `.step('s${index}', { dependsOn: ['s${index - 1}'], run: async ({ deps }) => ({ n: deps.s${index - 1}.n }), compensate: ({ output }) => output.n.toFixed() })`,
  )
  const from = `import { define } from '${fileOf('../../src/definition/index.ts')}'`
  const program = [from, `export const chain = define('chain', { version: 1 })`, ...steps].join('\n')

  const report = withProgram(program, (file) => tscOutput(file, ['--extendedDiagnostics']))

  // The compiler looks at the outputs of all steps for each step. It took 642,000 when Jsonify computed them, and takes 327,000 now.
  const instantiations = Number(/Instantiations:\s+(\d+)/.exec(report)?.[1])
  expect(instantiations).toBeGreaterThan(50_000)
  expect(instantiations).toBeLessThan(425_000)
})

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

function compileErrorsOf(source: string): string[] {
  return withProgram(source, compileErrors)
}

function withProgram<Result>(source: string, use: (file: string) => Result): Result {
  const directory = mkdtempSync(join(tmpdir(), 'belay-types-'))
  try {
    const file = join(directory, 'program.ts')
    writeFileSync(file, source)
    return use(file)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** The lines of a program that do not compile, with the sentence that each error quotes. */
function compileErrors(file: string): string[] {
  return tscOutput(file)
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => {
      const [, number, sentence] = /\((\d+),\d+\): error .*(?:'"|CannotBeStored<")(.*?)"['>].*\.$/.exec(
        line,
      ) ?? ['', '', line]
      return `${number}: ${sentence!.replaceAll('\\"', '"')}`
    })
}

function tscOutput(file: string, more: readonly string[] = []): string {
  const tsc = fileOf('../../../../node_modules/typescript/bin/tsc')
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --allowImportingTsExtensions'.split(' ')
  const target = '--target es2022 --module nodenext'.split(' ')
  try {
    return execFileSync(process.execPath, [tsc, ...options, ...target, ...more, file], { encoding: 'utf8' })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}
