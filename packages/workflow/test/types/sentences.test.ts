import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the compiler says in a sentence what is wrong with a name', () => {
  const errors = compileErrors('must-not-compile/names.ts')
  expect(errors).toEqual([
    `5: Step "reserveStok" is not defined before this step: define it first, or correct the name.`,
    `6: Step "own" is not defined before this step: define it first, or correct the name.`,
    `7: Step "late" is not defined before this step: define it first, or correct the name.`,
    `8: Step "reserveStock" is defined already: give one of them another name.`,
    `9: Step "second" is not defined before this step: define it first, or correct the name.`,
  ])
})

/** The lines of a program that do not compile, with the last text in quotes of each error. */
function compileErrors(program: string): string[] {
  const output = tscOutput(fileURLToPath(new URL(program, import.meta.url)))
  return output
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => {
      const [, number, sentence] = /\((\d+),\d+\): error .*'"(.*)"'\.$/.exec(line) ?? ['', '', line]
      return `${number}: ${sentence!.replaceAll('\\"', '"')}`
    })
}

function tscOutput(file: string): string {
  const root = fileURLToPath(new URL('../../../..', import.meta.url))
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--allowImportingTsExtensions',
    '--skipLibCheck',
  ]
  try {
    execFileSync(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, ...options, file], {
      encoding: 'utf8',
    })
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
  return ''
}
