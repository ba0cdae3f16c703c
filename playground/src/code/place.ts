import { CodeError } from './compile.ts'

/** An error that the browser tells without a line, with the line that it means. Others stay as they are. */
export async function placed(error: unknown, source: string): Promise<unknown> {
  if (!(error instanceof Error) || error.name !== 'SyntaxError') return error
  const missing = /module '[^']*?(\w+)\.js' does not provide an export named '(\w+)'/.exec(error.message)
  if (missing !== null) {
    const [, file, name] = missing
    const module = file === 'play' ? 'playground' : '@belay/workflow'
    return new CodeError(`There is no ${name} in ${module}.`, lineWith(source, new RegExp(`\\b${name}\\b`)))
  }
  return new CodeError(error.message, await firstWrongLine(source))
}

function lineWith(source: string, pattern: RegExp): number | undefined {
  const index = source.split('\n').findIndex((line) => pattern.test(line))
  return index === -1 ? undefined : index + 1
}

/** By the editor's own parser, which goes on after a mistake and marks it. */
async function firstWrongLine(source: string): Promise<number | undefined> {
  const { typescriptLanguage } = await import('@codemirror/lang-javascript')
  let wrong: number | undefined
  typescriptLanguage.parser.parse(source).iterate({
    enter({ type, from }) {
      if (type.isError) wrong ??= from
    },
  })
  return wrong === undefined ? undefined : source.slice(0, wrong).split('\n').length
}
