import { parentPort, workerData } from 'node:worker_threads';
import type { ArchiveFormat } from './archive.ts';
import { fromHeadList, type HeadList } from './headList.ts';
import { type PackMessage, packTask } from './packing.ts';
import { tarSegments } from './tarSegment.ts';
import { zipSegments } from './zipSegment.ts';

/** What a packing worker starts with. */
export interface WorkerStart {
  readonly root: string;
  readonly format: ArchiveFormat;
}

/** To the worker: a task to pack, or that one of its segments is written. */
export type ToWorker =
  | { readonly kind: 'pack'; readonly id: number; readonly first: number; readonly heads: HeadList }
  | { readonly kind: 'written' };

/** More segments than this wait for the writer only in the worker that makes them. */
const maxUnwritten = 4;

/** The packing worker's life: tasks in, segments out, no more of them than the writer keeps up with. */
function serve(port: NonNullable<typeof parentPort>, { root, format }: WorkerStart): void {
  let unwritten = 0;
  let resume: (() => void) | undefined;
  let work = Promise.resolve();

  const send = async (message: PackMessage): Promise<void> => {
    if (message.kind !== 'segment') {
      port.postMessage(message);
      return;
    }
    unwritten++;
    const data = ownBuffer(message.data);
    const central = ownBuffer(message.central);
    const { entries, offsets } = message;
    port.postMessage({ ...message, data, central }, [
      data.buffer,
      central.buffer,
      entries.buffer,
      offsets.buffer,
    ]);
    while (unwritten >= maxUnwritten) await new Promise<void>((resolve) => (resume = resolve));
  };

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'written') {
      unwritten--;
      resume?.();
      return;
    }
    const builder = format === 'zip' ? zipSegments() : tarSegments();
    const { id, first } = message;
    const files = fromHeadList(message.heads);
    work = work.then(() => packTask({ id, first, files }, root, builder, send));
  });
}

/** Bytes whose memory nothing else uses, so that it can be handed over. */
function ownBuffer(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = data;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength) {
    return new Uint8Array(buffer);
  }
  return new Uint8Array(data);
}

if (parentPort !== null) serve(parentPort, workerData as WorkerStart);
