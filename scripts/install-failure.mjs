const CAUSES = [
  {
    pattern:
      /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|META_FETCH_FAIL|FETCH_ERROR)\b/i,
    remedy:
      "The npm registry can't be reached. The first run needs it (later ones don't): check the network, or the proxy and registry that `npm config list` shows.",
  },
  {
    pattern: /\bENOSPC\b|no space left/i,
    remedy: 'The disk is full. The dependencies take about 700 MB.',
  },
  {
    pattern: /\b(EACCES|EROFS|EPERM)\b/,
    remedy:
      'A file or folder may not be written by this user. The clone and its node_modules must belong to you.',
  },
  {
    pattern: /OUTDATED_LOCKFILE/,
    remedy:
      'pnpm-lock.yaml is older than a package.json. Bring it up to date with `npm run lock`, and commit it.',
  },
  {
    pattern: /\b(E40[13]|FETCH_40[13])\b/,
    remedy: 'The npm registry refuses access: check the credentials in your .npmrc.',
  },
]

/**
 * A failed installation in words: what was being done, the tool's own last lines, and what to do.
 * @param {readonly string[]} lines what pnpm wrote
 * @param {number} code
 */
export function explainInstallFailure(lines, code) {
  const tail = lines.filter((line) => line.trim() !== '' && !line.startsWith('Progress:')).slice(-12)
  const cause = CAUSES.find(({ pattern }) => lines.some((line) => pattern.test(line)))
  return [
    ...tail.map((line) => `  ${line}`),
    '',
    `Installing the dependencies failed (exit code ${code}).`,
    ...(cause === undefined ? [] : [cause.remedy]),
  ].join('\n')
}
