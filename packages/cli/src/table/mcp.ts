import type { Verb } from './verb.ts'

/** Apart from the others: its tools are made from their tables. */
export const MCP: Verb = {
  name: 'mcp',
  group: 'set up',
  summary: 'the verbs as tools of a model',
  about:
    'Serves the Model Context Protocol on stdin and stdout: the verbs that read as tools, with --allow-writes also those that act, which change nothing unless the call says yes: without it they do a dry run, or say what they would do. Payloads and messages of errors are hidden without --payloads. It needs the package @modelcontextprotocol/sdk.',
  flags: ['allow-writes', 'payloads'],
  examples: [
    { command: 'mcp', about: 'for a model that may only look' },
    { command: 'mcp --allow-writes', about: 'for one that may also repair' },
  ],
  access: 'local',
  load: () => import('../verbs/mcp.ts'),
}
