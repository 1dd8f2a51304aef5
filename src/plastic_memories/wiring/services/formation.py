"""How conversations become memories: jobs, digests, archives, export files."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.hub.formation.archive_reader import ArchiveReader
from plastic_memories.hub.formation.archiving import ArchiveConversation
from plastic_memories.hub.formation.digest import Digest
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.job_runner import JobRunner
from plastic_memories.hub.formation.jobs import Jobs
from plastic_memories.wiring.services.service_context import ServiceContext


@dataclass(frozen=True, slots=True)
class FormationServices:
    archive: ArchiveConversation
    archive_reader: ArchiveReader
    exports: ExportFiles
    jobs: Jobs
    job_runner: JobRunner


def build_formation(context: ServiceContext) -> FormationServices:
    storage, options, plugins = context.storage, context.formation, context.plugins
    archive = ArchiveConversation(storage, plugins.archive, options)
    exports = ExportFiles(storage, plugins.archive, options)
    jobs = Jobs(storage, options)
    digest = Digest(
        storage,
        context.screening,
        plugins.judge,
        plugins.extractor,
        options,
        plugins.archive.is_enabled,
        context.unread_clauses,
    )
    runner = JobRunner(jobs, digest, archive, exports, context.meter, context.wakeup)
    reader = ArchiveReader(storage, plugins.archive)
    return FormationServices(archive, reader, exports, jobs, runner)
