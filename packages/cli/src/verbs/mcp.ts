import { Readable } from 'node:stream'
import { quoteWithoutPayloads } from '@belay/workflow'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { withoutPayloads } from '../mcp/redact.ts'
import { argvOf, mayChange, type Tool, toolsOf } from '../mcp/tools.ts'
import { EVERYWHERE, type FlagsGiven } from '../table/flags.ts'

const RESULT_CHARS_MAX = 100_000

/** `belay mcp`: the verbs as tools of a Model Context Protocol server on stdin and stdout, until the client leaves. */
export async function run({ flags, out, process, signal, again }: Call): Promise<ExitStatus | undefined> {
  const sdk = await loaded()
  const [writes, payloads] = [flags['allow-writes'] === true, flags.payloads === true]
  const tools = toolsOf({ writes, payloads })
  const server = new sdk.Server(
    { name: 'belay', version: '1' },
    {
      capabilities: { tools: {} },
      instructions: `Belay runs durable workflows on PostgreSQL. Begin with overview or doctor; explain tells why a run stands still. ${writes ? 'Tools that act change nothing unless `yes` is true: without it they say what they would do. Ask a person first.' : 'These tools only read.'}`,
    },
  )
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({
    tools: tools.map(({ verb: _, ...tool }) => tool),
  }))
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) return answer(`There is no tool "${params.name}".`, true)
    return called(tool, params.arguments ?? {}, { process, flags, signal, again, payloads })
  })
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    signal.addEventListener('abort', () => resolve())
    process.stdin.on('end', () => resolve())
  })
  await server.connect(new sdk.StdioServerTransport())
  out.note(`belay mcp: ${tools.length} tools, ${writes ? 'reading and acting' : 'reading only'}.`)
  await ended
  await server.close()
  return
}

async function loaded() {
  try {
    const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ])
    return { Server, StdioServerTransport, ...types }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw misused(
      'belay mcp needs the package @modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk',
    )
  }
}

interface Serving extends Pick<Call, 'process' | 'flags' | 'signal' | 'again'> {
  readonly payloads: boolean
}

/** Calls a verb as the command line does, with its output caught. */
async function called(tool: Tool, given: Readonly<Record<string, unknown>>, serving: Serving) {
  const { process, flags, signal, again, payloads } = serving
  const said = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      said[name] += text
      return true
    },
  })
  const argv = [...connectionWords(flags), ...argvOf(tool, given)]
  const caught = {
    ...process,
    // The client's messages arrive on stdin: no tool may read them as ids of runs.
    stdin: Readable.from([]),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: process.env,
    cwd: process.cwd,
  }
  const status = await again(argv, caught, {
    version: '',
    signal,
    quote: payloads ? undefined : quoteWithoutPayloads,
    onlyDry: !mayChange(tool, given),
  })
  const text = payloads ? said.stdout : redacted(said.stdout)
  const told = [text.trim(), said.stderr.trim()].filter((part) => part !== '').join('\n\n')
  return answer(shortened(told), status !== 0)
}

function connectionWords(flags: FlagsGiven): readonly string[] {
  return EVERYWHERE.filter((name) => ['url', 'schema', 'config', 'timeout'].includes(name)).flatMap((name) =>
    flags[name] === undefined ? [] : [`--${name}=${String(flags[name])}`],
  )
}

/** One document, or one in each line. */
function redacted(stdout: string): string {
  return stdout
    .split('\n')
    .map((line) =>
      line.startsWith('{') || line.startsWith('[') ? JSON.stringify(withoutPayloads(JSON.parse(line))) : line,
    )
    .join('\n')
}

function shortened(text: string): string {
  if (text.length <= RESULT_CHARS_MAX) return text
  return `${text.slice(0, RESULT_CHARS_MAX)}\n… cut after ${RESULT_CHARS_MAX} characters. Ask for less, with limit or fields.`
}

function answer(text: string, isError: boolean) {
  return { content: [{ type: 'text' as const, text: text === '' ? 'Done.' : text }], isError }
}
