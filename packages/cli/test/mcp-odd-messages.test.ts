import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { testStore } from './setup/store.ts'

const ODD: readonly string[] = [
  '',
  'no JSON',
  '{',
  'null',
  '[]',
  '[1, 2]',
  '"text"',
  '{"jsonrpc":"1.0"}',
  '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
  '{"jsonrpc":"2.0","id":7,"result":{}}',
  '{"jsonrpc":"2.0","id":8,"method":"nothing/such"}',
  '{"jsonrpc":"2.0","id":9,"method":"tools/call"}',
  '{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"show","arguments":"x"}}',
  '{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"list","arguments":{"status":[{"a":1}],"limit":"-"}}}',
  '{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":1}}}',
  `{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"show","arguments":{"run":"${'x'.repeat(100_000)}"}}}`,
  '\u0000\u0001',
]

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

it('belay mcp goes on after any message', async () => {
  const { env } = await testStore()
  const program = fileURLToPath(new URL('../bundle/bin.js', import.meta.url))
  const server = spawn(process.execPath, [program, 'mcp'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void server.kill())
  const answers = createInterface({ input: server.stdout })
  const answered = (id: unknown) =>
    new Promise<unknown>((resolve, reject) => {
      answers.on('line', (line) => {
        const answer = JSON.parse(line) as { readonly id?: unknown }
        if (answer.id === id) resolve(answer)
      })
      server.on('exit', (code) => reject(new Error(`It ended with status ${code}.`)))
    })

  const first = answered('first')
  server.stdin.write(`${[...ODD, JSON.stringify(INITIALIZE), ...ODD].join('\n')}\n`)
  expect(await first).toMatchObject({ result: { serverInfo: { name: 'belay' } } })

  const last = answered('last')
  server.stdin.write('{"jsonrpc":"2.0","id":"last","method":"tools/list"}\n')
  expect(await last).toMatchObject({ result: { tools: expect.any(Array) } })
})
