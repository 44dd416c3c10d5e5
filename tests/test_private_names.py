"""Names of other projects that are used and not public: a release that moves one fails here, by name."""

import importlib

import pytest

PRIVATE = {
    "hydra._internal.config_loader_impl:ConfigLoaderImpl._apply_overrides_to_config": "adapters/config",
    "hydra._internal.core_plugins.basic_sweeper:BasicSweeper.split_arguments": "adapters/config",
    "hydra._internal.hydra:Hydra.compose_config": "adapters/config",
    "hydra._internal.utils:create_config_search_path": "adapters/config",
    "inspect_ai._util.error:PrerequisiteError": "pipeline/inspect",
    "prefect.events.worker:EventsWorker._instances": "pipeline/orchestration/lost.py",
    "prefect.filesystems:LocalFileSystem._resolve_path": "pipeline/orchestration/records.py",
    "prefect.server.api.server:create_app": "pipeline/orchestration/server_process.py",
}


@pytest.mark.parametrize(("name", "user"), PRIVATE.items())
def test_a_private_name_is_where_it_is_used_from(name, user):
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        assert hasattr(found, part), f"{user} uses {name}"
        found = getattr(found, part)
