import { describe, expect, it } from 'vitest'
import { explainInstallFailure } from '../../../scripts/install-failure.mjs'
import { nodeProblem } from '../../../scripts/node-version.mjs'

describe('the Node version', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('%s is accepted', (version) => {
    expect(nodeProblem(version)).toBeNull()
  })

  it.each(['16.20.2', '18.20.4', '20.18.3'])('%s is refused, with advice', (version) => {
    expect(nodeProblem(version)).toMatch(/needs Node\.js 20\.19 or later; this is .*\n.*nodejs\.org/)
  })
})

describe('a failed installation', () => {
  it.each([
    ['npm error errno EAI_AGAIN', "registry can't be reached"],
    [' ERR_PNPM_META_FETCH_FAIL  GET https://registry.example: ENOTFOUND', "registry can't be reached"],
    [' ENOSPC  ENOSPC: no space left on device, write', 'disk is full'],
    [
      "npm error Error: EACCES: permission denied, mkdir '/clone/node_modules'",
      'may not be written by this user',
    ],
    [' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"', 'npm run lock'],
  ])('"%s" is explained', (line, remedy) => {
    const text = explainInstallFailure(['Progress: resolved 1', line], 1)

    expect(text).toContain(line)
    expect(text).toContain(remedy)
    expect(text).not.toContain('Progress')
  })

  it('of an unknown kind still shows the last output of the tool', () => {
    const text = explainInstallFailure(['a new kind of trouble'], 3)

    expect(text).toContain('a new kind of trouble')
    expect(text).toContain('failed (exit code 3)')
  })
})
