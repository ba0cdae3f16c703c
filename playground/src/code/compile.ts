import { init, parse } from 'es-module-lexer'
import { transform } from 'sucrase'

/** What the reader's code may import, and where it stands. */
const MODULES: Readonly<Record<string, string>> = { '@belay/workflow': 'belay.js', playground: 'play.js' }

/** A mistake in the reader's code. */
export class CodeError extends Error {
  /** From 1. Undefined if it is of the whole. */
  readonly line: number | undefined

  constructor(message: string, line: number | undefined) {
    super(message)
    this.line = line
  }
}

/** TypeScript of the reader's as a JavaScript module whose imports stand below `base`. Lines stay lines. Throws `CodeError`. */
export async function compile(source: string, base: string): Promise<string> {
  const code = stripped(source)
  await init
  let [compiled, at] = ['', 0]
  for (const found of parse(code)[0]) {
    if (found.type === 'import-meta') continue
    const name = found.type === 'dynamic' ? undefined : found.specifier
    const file = name === undefined ? undefined : MODULES[name]
    if (file === undefined) throw unknownModule(name, lineOf(code, found.importStart))
    compiled += code.slice(at, found.start) + new URL(file, base).href
    at = found.end
  }
  return compiled + code.slice(at)
}

function unknownModule(name: string | undefined, line: number): CodeError {
  const known = Object.keys(MODULES).join(' and ')
  const what =
    name === undefined ? 'import() is not for this page' : `There is no module ${JSON.stringify(name)} here`
  return new CodeError(`${what}: import ${known} at the top.`, line)
}

function stripped(source: string): string {
  try {
    return transform(source, {
      transforms: ['typescript'],
      disableESTransforms: true,
      keepUnusedImports: false,
    }).code
  } catch (error) {
    // Sucrase ends its messages with the place: “(3:14)”.
    const message = error instanceof Error ? error.message : String(error)
    const place = /\((\d+):\d+\)\s*$/.exec(message)
    throw new CodeError(
      message.replace(/^Error transforming [^:]*: /, '').replace(/\s*\(\d+:\d+\)\s*$/, ''),
      place ? Number(place[1]) : undefined,
    )
  }
}

function lineOf(code: string, at: number): number {
  return code.slice(0, at).split('\n').length
}
