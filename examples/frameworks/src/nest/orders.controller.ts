import type { ServerResponse } from 'node:http'
import type { Engine } from '@belay/workflow'
import {
  type BeforeApplicationShutdown,
  Body,
  Controller,
  Get,
  HttpCode,
  Inject,
  NotFoundException,
  Param,
  Post,
  Res,
} from '@nestjs/common'
import { streamChanges } from '../changes.ts'
import { order } from '../order.ts'
import { Streams } from '../web.ts'
import { ENGINE } from './engine.module.ts'

@Controller()
export class OrdersController implements BeforeApplicationShutdown {
  readonly #engine: Engine
  readonly #streams = new Streams()

  constructor(@Inject(ENGINE) engine: Engine) {
    this.#engine = engine
  }

  @Post('orders/:key')
  @HttpCode(202)
  async start(@Param('key') key: string, @Body() body: { item: string }) {
    const run = await this.#engine.run(order, body, { key })
    return { runId: run.id }
  }

  @Post('runs/:id/release')
  @HttpCode(200)
  async release(@Param('id') id: string, @Body() body: unknown) {
    const receipt = await this.#engine.signal(id, 'released', body)
    return { result: receipt.result }
  }

  @Get('runs/:id')
  async status(@Param('id') id: string) {
    const run = await this.#engine.runs.get(id)
    if (run === undefined) throw new NotFoundException()
    return { status: run.status }
  }

  @Get('runs/:id/changes')
  changes(@Param('id') id: string, @Res() response: ServerResponse): Promise<void> {
    return streamChanges(response, { engine: this.#engine, runId: id, streams: this.#streams })
  }

  /** Nest closes its server after this, and waits for all requests. */
  beforeApplicationShutdown(): void {
    this.#streams.endAll()
  }
}
