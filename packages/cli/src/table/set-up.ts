import type { Verb } from './verb.ts'

export const SET_UP: readonly Verb[] = [
  {
    name: 'init',
    group: 'set up',
    summary: 'a project that runs, or a config',
    about:
      'In an empty folder it makes a project: a workflow that is undone when it fails, a worker, a program that starts a run, and a test. A package.json with nothing but Belay, as npm install leaves it, becomes that of the project. In a folder with any other package.json it adds only belay.config.ts. It overwrites nothing. At a terminal it asks for the name and the store.',
    flags: [
      ['name', 'the name of the project; default: that of the folder'],
      'postgres',
      'pglite',
      ['yes', 'without asking: PostgreSQL, unless --pglite'],
    ],
    examples: [
      { command: 'init', about: 'asks two questions' },
      { command: 'init --pglite --name shop', about: 'a project that needs no server' },
    ],
    access: 'local',
  },
  {
    name: 'dashboard',
    group: 'set up',
    summary: 'runs and rollbacks in a browser',
    about:
      'Serves the dashboard on 127.0.0.1 until Ctrl-C, and prints its address, which works once: who opens it first is let in, and nobody else. It only reads, unless --allow-writes. Payloads and messages of errors are hidden without --payloads. It needs the package @belay/dashboard.',
    flags: [['allow-writes', 'also act on runs; each action asks for a reason'], 'payloads', 'port', 'by'],
    examples: [
      { command: 'dashboard', about: 'for looking' },
      {
        command: 'dashboard --allow-writes --payloads',
        about: 'for repairing, with what handlers got and gave',
      },
    ],
    access: 'local',
  },
  {
    name: 'completion',
    group: 'set up',
    summary: 'for bash, zsh and fish',
    about:
      'Prints a script for a shell. With it, the shell completes verbs, flags and statuses, and from the store the names of workflows, runs, steps, schedules and limits, if the store answers within a second.',
    args: [
      { name: 'shell', about: 'bash, zsh or fish', completes: ['bash', 'zsh', 'fish'] },
      { name: 'words', about: 'what was typed so far: the scripts call it so', optional: true, many: true },
    ],
    examples: [
      { command: 'completion bash', about: 'in ~/.bashrc: source <(belay completion bash)' },
      { command: 'completion zsh', about: 'in ~/.zshrc, after compinit: source <(belay completion zsh)' },
      { command: 'completion fish', about: 'in config.fish: belay completion fish | source' },
    ],
    access: 'local',
  },
  {
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
  },
]
