import { expect, inject, it } from 'vitest'
import { oddRequests, sendAll } from '../../packages/dashboard/test/setup/odd-requests.ts'

it('the server goes on after any request, and serves nothing from outside', async () => {
  const at = new URL(inject('playground'))

  await sendAll(Number(at.port), oddRequests(at.host))

  expect((await fetch(at)).status).toBe(200)
  for (const path of ['/..%2fpackage.json', '/%2e%2e/package.json', '/%00', '//etc/passwd'])
    expect((await fetch(`${at.origin}${path}`)).status).toBe(404)
})
